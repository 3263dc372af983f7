-- Forgets a job that is over.
local state = field('state')
if state and state ~= 'succeeded' and state ~= 'failed' and state ~= 'canceled' then
  return redis.error_reply(
    'CONFLICT job ' .. ID .. ' is ' .. state .. '; cancel it and wait for its end before deleting')
end
redis.call('SREM', UNRECORDED, ID)
redis.call('ZREM', ARCHIVED, ID)
redis.call('ZREM', UNCLEARED, ID)
if not state then return 1 end -- it was there a moment ago: this call, or another, deleted it
redis.call('ZREM', INDEX[state], ID)
redis.call('ZREM', ALL, ID)
redis.call('ZREM', DEAD, ID)
redis.call('UNLINK', JOB, RECORDS, EVENTS)
redis.call('PUBLISH', PULSE, ID)
return 1
