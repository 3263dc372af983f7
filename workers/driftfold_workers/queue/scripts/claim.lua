-- ARGV: worker, lease in ms. Returns the job, or nothing when somebody else was faster.
local worker, lease = ARGV[3], ARGV[4]
if not repeated() then
  -- Since it was listed somebody may have taken it, and given it back to wait: then it stays there.
  if not redis.call('ZSCORE', READY, ID) then return {} end
  dequeue()
  redis.call('ZADD', LEASE, NOW_MS + lease, ID)
  redis.call('HINCRBY', JOB, 'epoch', 1)
  redis.call('HINCRBY', JOB, 'attempt', 1)
  redis.call('HSETNX', JOB, 'started', NOW)
  set('worker', worker, 'lease', lease, 'reason', '', 'begun', field('seq'), 'nonce', NONCE)
  move('running')
  tell(field('checkpoint') and 'resumed' or 'claimed', attempt_facts())
end
return redis.call('HGETALL', JOB)
