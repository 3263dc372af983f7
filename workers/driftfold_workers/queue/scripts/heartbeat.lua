-- ARGV: epoch, lease in ms, seconds of CPU and of running that the job has used, or '' and ''.
if fenced(ARGV[3]) then return 'lost' end
redis.call('ZADD', LEASE, NOW_MS + ARGV[4], ID)
set('lease', ARGV[4])
use(ARGV[5], ARGV[6])
if field('state') == 'canceling' then return 'cancel' end
return field('pausing') and 'pause' or 'ok'
