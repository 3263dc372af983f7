-- Queues a job that was held until others had succeeded. Returns 1 if it did.
if redis.call('SREM', HELD, ID) == 0 then return 0 end
redis.call('HDEL', JOB, 'held')
set('reason', '')
enqueue()
return 1
