-- Queues a job whose pause is over. Returns 1 if it did.
local due = redis.call('ZSCORE', DELAYED, ID)
if not due or tonumber(due) > NOW_MS then return 0 end
redis.call('ZREM', DELAYED, ID)
redis.call('HDEL', JOB, 'due')
enqueue()
return 1
