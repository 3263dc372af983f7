-- The archive has a job up to a record and an event: the log may be shorter. ARGV: their numbers;
-- records, and events, that are kept for those who read along; ms until a job that is over may be
-- forgotten.
-- Returns 1 once there is nothing more to record.
local seq, events = tonumber(ARGV[3]), tonumber(ARGV[4])
local margin, events_margin, keep = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7]
local state = field('state')
if not state then return 1 end -- it was deleted
local function trim(stream, last, kept)
  if last > kept then
    redis.call('XTRIM', stream, 'MINID', string.format('%d-0', last - kept + 1))
  end
end
trim(RECORDS, seq, margin)
trim(EVENTS, events, events_margin)
if tonumber(field('seq')) > seq or tonumber(field('events')) > events then return 0 end
redis.call('SREM', UNRECORDED, ID)
if state == 'succeeded' or state == 'failed' or state == 'canceled' then
  redis.call('ZADD', ARCHIVED, 'NX', NOW_MS + keep, ID)
end
return 1
