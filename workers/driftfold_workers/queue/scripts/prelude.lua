-- What every script about a job begins with.
-- KEYS: see driftfold_workers/redis/keys.py. ARGV: the job's id, a nonce, then what the script needs.
--
-- The nonce is new for each call and the same when a call is sent again because its reply was
-- lost, so that a transition that happened is not refused or repeated the second time.
local JOB, RECORDS, EVENTS, READY, NEEDS, LEASE, DELAYED, LATER, HELD = unpack(KEYS, 1, 9)
local BELL, PULSE, ALL, UNRECORDED, ARCHIVED, TURNS = unpack(KEYS, 10, 15)
local INDEX = {
  queued = KEYS[16], running = KEYS[17], canceling = KEYS[18], paused = KEYS[19],
  succeeded = KEYS[20], failed = KEYS[21], canceled = KEYS[22],
}
local UNCLEARED, DEAD, COUNTS = unpack(KEYS, #KEYS - 2)
local TURNS_KEPT = 10000
local ID, NONCE = ARGV[1], ARGV[2]

local clock = redis.call('TIME')
local NOW = string.format('%s.%06d', clock[1], clock[2])
local NOW_MS = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function field(name) return redis.call('HGET', JOB, name) end
local function set(...) redis.call('HSET', JOB, ...) end

-- Counts something for all jobs together, which only ever grows. What cannot be counted, for want of
-- room, happens all the same.
local function count(name, by) redis.pcall('HINCRBY', COUNTS, name, by or 1) end

-- Of the outcome of an attempt only the words: "child died", not by which signal.
local function count_outcome(outcome)
  if outcome ~= '' then count('outcome:' .. string.gsub(outcome, ' %(.*', '')) end
end

local function tell(kind, ...)
  count('event:' .. kind)
  local number = redis.call('HINCRBY', JOB, 'events', 1)
  redis.call('XADD', EVENTS, number .. '-0', 'kind', kind, 'time', NOW, ...)
  redis.call('SADD', UNRECORDED, ID)
end

local function attempt_facts()
  return 'attempt', field('attempt'), 'epoch', field('epoch'), 'worker', field('worker'),
    'seq', field('seq')
end

-- A job has its turn when it first leaves the queue: the time in us, after all turns before.
local function take_turn()
  if field('turn') then return end
  local last = tonumber(redis.call('ZRANGE', TURNS, -1, -1, 'WITHSCORES')[2] or 0)
  local turn = string.format('%.0f', math.max(clock[1] * 1000000 + clock[2], last + 1))
  set('turn', turn)
  redis.call('ZADD', TURNS, turn, ID)
  redis.call('ZREMRANGEBYRANK', TURNS, 0, -TURNS_KEPT - 1)
end

local function move(state)
  local before = field('state')
  if state ~= 'queued' then take_turn() end
  if before then redis.call('ZREM', INDEX[before], ID) end
  redis.call('ZADD', INDEX[state], field('number'), ID)
  set('state', state)
  redis.call('PUBLISH', PULSE, ID)
end

-- The job waits, queued but out of reach, until promote.lua finds that its time has come.
local function put_off(where, until_ms)
  move('queued')
  redis.call('ZADD', where, until_ms, ID)
  set('due', string.format('%.3f', until_ms / 1000))
end

-- A job keeps its place, so one that is given back stands at the head of its priority. (Those of an
-- earlier version have none.)
local function enqueue()
  local held, not_before = field('held'), tonumber(field('not_before') or 0)
  if held then
    set('reason', held)
    move('queued')
    redis.call('SADD', HELD, ID)
  elseif not_before > NOW_MS then
    put_off(LATER, not_before)
  else
    move('queued')
    redis.call('ZADD', READY, field('place') or field('number'), ID)
    redis.call('HSET', NEEDS, ID, field('needs'))
    redis.call('PUBLISH', BELL, ID)
  end
end

-- Takes the job out of the queue, wherever it stands.
local function dequeue()
  redis.call('HDEL', NEEDS, ID)
  redis.call('HDEL', JOB, 'due')
  redis.call('ZREM', DELAYED, ID)
  redis.call('ZREM', LATER, ID)
  redis.call('SREM', HELD, ID)
  redis.call('ZREM', READY, ID)
end

-- The job waits until somebody resumes it.
local function pause()
  redis.call('HDEL', JOB, 'pausing')
  move('paused')
  tell('paused', attempt_facts())
end

-- `outcome`: what became of the attempt that ends with the job; nil when nobody runs it.
local function finish(state, reason, outcome)
  dequeue()
  redis.call('ZREM', LEASE, ID)
  redis.call('HDEL', JOB, 'pausing')
  if state == 'canceled' and reason == '' then reason = field('why') or '' end
  set('reason', reason, 'finished', NOW)
  move(state)
  tell(state, 'reason', reason, 'outcome', outcome or '', attempt_facts())
  -- Whoever ends the job clears up after it; after a lease it may have died, and anybody does.
  if field('started') then redis.call('ZADD', UNCLEARED, NOW_MS + (field('lease') or 0), ID) end
end

-- What the job has used up. The archive has that with whatever else is told, and is to have it now
-- and then where nothing is: each 5 seconds of running.
local function use(cpu, wall)
  if cpu == '' then return end
  set('used_cpu', cpu, 'used_wall', wall)
  if tonumber(wall) >= tonumber(field('used_offered') or 0) + 5 then
    set('used_offered', wall)
    redis.call('SADD', UNRECORDED, ID)
  end
end

local function repeated() return field('nonce') == NONCE end

local function unknown() return redis.error_reply('UNKNOWN no job has the id ' .. ID) end

-- The refusal of what the state of the job does not allow.
local BECAME = { succeeded = ' has ', failed = ' has ', canceled = ' was ' }
local function refuse(allowed)
  local state = field('state')
  return redis.error_reply('CONFLICT job ' .. ID .. (BECAME[state] or ' is ') .. state .. '; ' .. allowed)
end

-- The refusal of a write whose attempt no longer runs the job; false while it does.
local function fenced(epoch)
  local state, current = field('state'), field('epoch')
  if current == epoch and (state == 'running' or state == 'canceling') then return false end
  return redis.error_reply(string.format(
    'FENCED attempt with epoch %s of job %s was given up: the job is %s, its epoch %s',
    epoch, ID, state or 'deleted', current or 'gone'))
end

local function refused(refusal)
  count('fenced')
  return refusal
end
