-- ARGV: longest pause in ms. Queues a job whose pause is over. Returns 1 if it did.
local due = redis.call('ZSCORE', DELAYED, ID)
if not due then return 0 end
-- One that is longer than any was put down before the clock was set back.
if tonumber(due) > NOW_MS and tonumber(due) <= NOW_MS + ARGV[3] then return 0 end
redis.call('ZREM', DELAYED, ID)
redis.call('HDEL', JOB, 'due')
enqueue()
return 1
