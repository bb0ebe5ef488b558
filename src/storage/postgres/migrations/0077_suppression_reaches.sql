-- One address may have a suppression for each of several streams. A complaint about a stream also counts for others, so it
-- is kept beside an unsubscription from the same stream. Earlier versions insert by the former index. Until they have
-- ended, the first suppression of an address and domain stays alone.
drop index suppressions_by_address;
create unique index suppressions_by_address on suppressions
  (organization_id, email, domain_id, mode, stream, (stream <> '' and reason = 'complaint'));
