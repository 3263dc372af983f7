-- ARGV: epoch, final state, reason, result or '', outcome of the attempt,
-- seconds of CPU and of running that the job has used, or '' and ''.
if repeated() and field('state') == ARGV[4] then return 1 end
local refusal = fenced(ARGV[3])
if refusal then return refused(refusal) end
if ARGV[6] ~= '' then set('result', ARGV[6]) end
use(ARGV[8], ARGV[9])
count_outcome(ARGV[7])
finish(ARGV[4], ARGV[5], ARGV[7])
set('nonce', NONCE)
return 1
