-- Returns the job.
local state = field('state')
if not state then return unknown() end
local pausing = state == 'running' and field('pausing')
if not repeated() then
  if state ~= 'paused' and not pausing then return refuse('only a paused job can be resumed') end
  redis.call('HDEL', JOB, 'pausing')
  set('reason', '', 'nonce', NONCE)
  tell('unpaused', attempt_facts())
  -- One that runs may have been told to stop: then it is given back, and queued like this one.
  if pausing then redis.call('PUBLISH', PULSE, ID) else enqueue() end
end
return redis.call('HGETALL', JOB)
