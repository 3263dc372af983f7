-- ARGV: epoch, or '' to take back a job whose lease is over; reason; outcome of the attempt; 1 if it
-- counts; attempts of a job that says nothing of them; first pause in ms, or 0 to go on at once;
-- longest pause in ms; seconds the server is up, at least; seconds of CPU and of running that the job
-- has used, or '' and ''. Returns the new state, '' if nothing was done.
local epoch, reason, outcome, counted, attempts, first, longest, uptime = unpack(ARGV, 3, 10)
if epoch == '' then
  local due = redis.call('ZSCORE', LEASE, ID)
  if not due then return '' end
  local length = tonumber(field('lease'))
  -- A lease that ends later than one that begins now was put down before the clock was set back.
  if tonumber(due) > NOW_MS + length then redis.call('ZADD', LEASE, NOW_MS + length, ID) end
  if tonumber(due) > NOW_MS then return '' end
  -- While the server was down nobody could renew: give each lease its full length once more.
  if uptime * 1000 < length then return '' end
elseif repeated() then
  return field('state')
else
  local refusal = fenced(epoch)
  if refusal then return refused(refusal) end
  use(ARGV[11], ARGV[12])
end

-- The first attempt in a row that recorded nothing new is followed by another at once, each
-- further one after twice the pause.
local wait = 0
if tonumber(first) > 0 then
  if tonumber(field('seq')) > tonumber(field('begun') or 0) then
    set('stalled', 0)
  else
    local stalled = redis.call('HINCRBY', JOB, 'stalled', 1)
    if stalled > 1 then wait = math.min(first * 2 ^ math.min(stalled - 2, 30), longest) end
  end
end
local canceling = field('state') == 'canceling'
local over = counted == '1'
  and tonumber(field('attempt')) >= tonumber(field('attempts') or attempts)
if canceling or over or field('pausing') then wait = 0 end
local retry = wait > 0 and string.format('%g', wait / 1000) or ''
tell(epoch == '' and 'lost' or 'released', 'reason', reason, 'outcome', outcome, 'retry', retry,
  attempt_facts())
count_outcome(outcome)
if epoch == '' then count('expired') end
if counted == '1' and not (canceling or over) then count('retried') end
set('nonce', NONCE)
redis.call('ZREM', LEASE, ID)
if counted == '0' then redis.call('HINCRBY', JOB, 'attempt', -1) end
if canceling then
  finish('canceled', '', outcome)
elseif over then
  set('dead', 1) -- its attempts ran out: a further try may help
  redis.call('ZADD', DEAD, field('number'), ID)
  finish('failed', reason, outcome)
else
  set('reason', reason)
  if field('pausing') then
    pause()
  elseif wait > 0 then
    put_off(DELAYED, NOW_MS + wait)
  else
    enqueue()
  end
end
return field('state')
