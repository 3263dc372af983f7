-- Returns the job.
local state = field('state')
if not state then return redis.error_reply('UNKNOWN no job has the id ' .. ID) end
if state == 'queued' then
  finish('canceled', '')
  set('nonce', NONCE)
elseif state == 'running' then
  move('canceling')
  tell('cancel-requested', attempt_facts())
elseif state ~= 'canceling' and not repeated() then
  local became = state == 'canceled' and ' was ' or ' has '
  return redis.error_reply(
    'CONFLICT job ' .. ID .. became .. state .. '; only a job that is not over can be canceled')
end
return redis.call('HGETALL', JOB)
