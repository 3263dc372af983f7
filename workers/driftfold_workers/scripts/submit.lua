-- KEYS[17]: the counter of jobs, KEYS[18]: the idempotency key (or the counter again).
-- ARGV: digest of the request, or '' without a key; seconds to keep the key; specification,
-- needs, name, horizon in rounds or ''. Returns the id of the job and its time of creation.
local digest, keep, spec, needs, name, horizon = unpack(ARGV, 3, 8)
if redis.call('EXISTS', JOB) == 1 then return { ID, field('created') } end
if digest ~= '' then
  local known = redis.call('GET', KEYS[18])
  if known then
    local was, id = string.match(known, '^(%S+) (%S+)$')
    if was ~= digest then
      return redis.error_reply(
        'CONFLICT this idempotency key was used for job ' .. id ..
        ', which has another specification or name; use a new key for a new job')
    end
    return { id, '' }
  end
  redis.call('SET', KEYS[18], digest .. ' ' .. ID, 'EX', keep)
end
local number = redis.call('INCR', KEYS[17])
set('number', number, 'spec', spec, 'needs', needs, 'name', name, 'horizon_rounds', horizon,
  'created', NOW, 'attempt', 0, 'epoch', 0, 'worker', '', 'seq', 0, 'rounds', 0, 'reason', '',
  'idempotency', digest ~= '' and KEYS[18] or '')
redis.call('ZADD', ALL, number, ID)
tell('submitted', 'name', name)
enqueue()
return { ID, NOW }
