-- ARGV: epoch, or '' to take back a job whose lease is over; reason; 1 if the attempt counts;
-- attempts a job has; seconds the server is up, at least. Returns the new state, '' if nothing was done.
local epoch, reason, counted, attempts, uptime = unpack(ARGV, 3, 7)
if epoch == '' then
  local due = redis.call('ZSCORE', LEASE, ID)
  if not due or tonumber(due) > NOW_MS then return '' end
  -- While the server was down nobody could renew: give each lease its full length once more.
  if uptime * 1000 < tonumber(field('lease')) then return '' end
elseif repeated() then
  return field('state')
else
  local refusal = fenced(epoch)
  if refusal then return refusal end
end
local canceling = field('state') == 'canceling'
tell(epoch == '' and 'lost' or 'released', 'reason', reason, attempt_facts())
set('nonce', NONCE)
redis.call('ZREM', LEASE, ID)
if counted == '0' then redis.call('HINCRBY', JOB, 'attempt', -1) end
if canceling then
  finish('canceled', '')
elseif counted == '1' and tonumber(field('attempt')) >= tonumber(attempts) then
  finish('failed', reason)
else
  set('reason', reason)
  enqueue()
end
return field('state')
