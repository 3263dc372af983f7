-- KEYS[19]: the job's idempotency key, if it has one.
local state = field('state')
if not state then return 1 end -- it was there a moment ago: this call, or another, deleted it
if state == 'queued' or state == 'running' or state == 'canceling' then
  return redis.error_reply(
    'CONFLICT job ' .. ID .. ' is ' .. state .. '; cancel it and wait for its end before deleting')
end
redis.call('ZREM', INDEX[state], ID)
redis.call('ZREM', ALL, ID)
redis.call('SREM', UNRECORDED, ID)
redis.call('ZREM', ARCHIVED, ID)
if KEYS[19] then
  local known = redis.call('GET', KEYS[19])
  if known and string.match(known, ' (%S+)$') == ID then redis.call('DEL', KEYS[19]) end
end
redis.call('UNLINK', JOB, RECORDS, EVENTS)
redis.call('PUBLISH', PULSE, ID)
return 1
