-- Returns the job.
local state = field('state')
if not state then return unknown() end
if state == 'queued' and not repeated() then
  dequeue()
  set('reason', '', 'nonce', NONCE)
  pause()
elseif state == 'running' and not field('pausing') and not repeated() then
  set('pausing', 1, 'reason', 'it is paused at the end of its round', 'nonce', NONCE)
  tell('pause-requested', attempt_facts())
  redis.call('PUBLISH', PULSE, ID)
elseif state ~= 'running' and state ~= 'paused' and not repeated() then
  return refuse('only a job that is queued or runs can be paused')
end
return redis.call('HGETALL', JOB)
