-- ARGV: longest pause in ms. Queues a job whose pause is over, or that may run by now. Returns 1 if
-- it did.
local rest, start = redis.call('ZSCORE', DELAYED, ID), redis.call('ZSCORE', LATER, ID)
if start and tonumber(start) > NOW_MS or not (rest or start) then return 0 end
-- A pause that is longer than any was put down before the clock was set back.
if rest and tonumber(rest) > NOW_MS and tonumber(rest) <= NOW_MS + ARGV[3] then return 0 end
dequeue()
enqueue()
return 1
