-- ARGV: epoch, number of the first record, checkpoint or '', rounds or '', the records.
-- Returns the number of the last record stored.
local FIXED = 6
local refusal = fenced(ARGV[3])
if refusal then return refusal end
local first, last = tonumber(ARGV[4]), tonumber(field('seq'))
if first > last + 1 then
  return redis.error_reply(string.format(
    'GAP record %d cannot follow record %d of job %s; send the records from %d on',
    first, last, ID, last + 1))
end
local before = last
for at = FIXED + 1 + last + 1 - first, #ARGV do
  last = last + 1
  redis.call('XADD', RECORDS, last .. '-0', 'record', ARGV[at])
end
if last > before then
  set('seq', last)
  redis.call('SADD', UNRECORDED, ID)
end
local checkpoint, rounds = ARGV[5], tonumber(ARGV[6])
-- The log keeps what an earlier attempt did beyond its checkpoint, so progress never falls back.
if rounds and rounds > tonumber(field('rounds')) then set('rounds', rounds) end
local saved = checkpoint ~= '' and checkpoint ~= field('checkpoint')
if saved then
  set('checkpoint', checkpoint)
  tell('checkpoint', 'name', checkpoint, 'epoch', ARGV[3], 'seq', first + #ARGV - FIXED - 1)
end
if saved or last > before then redis.call('PUBLISH', PULSE, ID) end
return last
