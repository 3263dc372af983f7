-- ARGV: epoch, number of the first record, checkpoint or '', rounds or '', the records.
-- Returns the number of the last record stored.
local FIXED = 6

-- The number that follows a name in a record; 0 where there is none. Reading it all takes too long.
local function number_in(record, name)
  local _, at = string.find(record, name, 1, true)
  return at and tonumber(string.match(record, '^-?[%d.]+[eE]?[-+]?%d*', at + 1)) or 0
end

local refusal = fenced(ARGV[3])
if refusal then return refused(refusal) end
local first, last = tonumber(ARGV[4]), tonumber(field('seq'))
if first > last + 1 then
  return redis.error_reply(string.format(
    'GAP record %d cannot follow record %d of job %s; send the records from %d on',
    first, last, ID, last + 1))
end

-- Of records that are stored already, the number of the first that is another one now: the same
-- computation, done again, gives the same but for the time that it takes.
local function lasting(record) return (string.gsub(record, ',"timing":%b{}', '')) end
local function diverging()
  local again = math.min(last, first + #ARGV - FIXED - 1)
  for _, stored in ipairs(redis.call('XRANGE', RECORDS, first .. '-0', again .. '-0')) do
    local number = tonumber(string.match(stored[1], '%d+'))
    if lasting(stored[2][2]) ~= lasting(ARGV[FIXED + 1 + number - first]) then return number end
  end
end
local diverged = first <= last and not field('diverged') and diverging()
if diverged then
  set('diverged', diverged)
  tell('diverged', 'record', diverged, attempt_facts())
end

local before, dropped = last, 0
for at = FIXED + 1 + last + 1 - first, #ARGV do
  last = last + 1
  redis.call('XADD', RECORDS, last .. '-0', 'record', ARGV[at])
  dropped = dropped + number_in(ARGV[at], '"dropped":')
end
if last > before then
  set('seq', last)
  redis.call('SADD', UNRECORDED, ID)
  count('records', last - before)
  count('dropped', dropped)
  local time, stood = number_in(ARGV[#ARGV], '"time":'), field('time')
  if not stood or time > tonumber(stood) then
    set('time', time)
    -- Of a job that the job store had lost it is not known where it stood.
    if stood or before == 0 then
      redis.pcall('HINCRBYFLOAT', COUNTS, 'virtual', time - (stood or 0))
    end
  end
end
local checkpoint, rounds = ARGV[5], tonumber(ARGV[6])
-- The log keeps what an earlier attempt did beyond its checkpoint, so progress never falls back.
local known = tonumber(field('rounds'))
if rounds and rounds > known then
  set('rounds', rounds)
  count('rounds', rounds - known)
end
local saved = checkpoint ~= '' and checkpoint ~= field('checkpoint')
if saved then
  set('checkpoint', checkpoint)
  tell('checkpoint', 'name', checkpoint, 'epoch', ARGV[3], 'seq', first + #ARGV - FIXED - 1)
end
if saved or diverged or last > before then redis.call('PUBLISH', PULSE, ID) end
return last
