-- KEYS[19]: the counter of jobs, KEYS[20]: the idempotency key (or the counter again).
-- ARGV: digest of the request, or '' without a key; seconds to keep the key; specification,
-- needs, name, horizon in rounds or ''. Returns the id of the job and its time of creation.
local digest, keep, spec, needs, name, horizon = unpack(ARGV, 3, 8)
if redis.call('EXISTS', JOB) == 1 then return { ID, field('created') } end
if digest ~= '' then
  local known = redis.call('GET', KEYS[20])
  if known then
    local was, id = string.match(known, '^(%S+) (%S+)$')
    if was ~= digest then
      return redis.error_reply(
        'CONFLICT this idempotency key was used for job ' .. id ..
        ', which has another specification or name; use a new key for a new job')
    end
    return { id, '' }
  end
  redis.call('SET', KEYS[20], digest .. ' ' .. ID, 'EX', keep)
end
local number = redis.call('INCR', KEYS[19])
create(number, spec, needs, name, horizon, NOW, 0, 0)
set('idempotency', digest ~= '' and KEYS[20] or '')
tell('submitted', 'name', name)
enqueue()
return { ID, NOW }
