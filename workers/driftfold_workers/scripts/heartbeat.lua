-- ARGV: epoch, lease in ms.
if fenced(ARGV[3]) then return 'lost' end
redis.call('ZADD', LEASE, NOW_MS + ARGV[4], ID)
set('lease', ARGV[4])
return field('state') == 'canceling' and 'cancel' or 'ok'
