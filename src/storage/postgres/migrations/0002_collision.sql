-- Refuses the statement that calls it as a serialization failure: the transaction runs again and reads what another
-- one wrote meanwhile.
create function collide() returns bytea language plpgsql as $$
begin
  raise exception 'another transaction was first' using errcode = 'serialization_failure';
end
$$;
