import { get, type Json } from '../kit/api.ts'
import { useLoad } from '../kit/load.ts'
import { Empty, ErrorNotice, Head } from '../kit/pieces.tsx'
import { AddressHead, type Owners, SendingAddress } from './sending-addresses/address.tsx'

/** The configured addresses that mail is sent from, for the operator: their DNS, owners, use and rests. */
export default function SendingAddressesPage() {
  const { data, error, reload } = useLoad(load, [], { everyMs: 30_000 })
  const empty = data?.addresses.length === 0
  return (
    <div class="stack">
      <Head name="Sending addresses" about="IP addresses that this installation sends mail from." />
      <ErrorNotice error={error} onRetry={reload} />
      {(data ?? error) === undefined && (
        <div class="card skeleton-page" role="progressbar" aria-label="Loading sending addresses" />
      )}
      {empty && <HowToConfigure />}
      {data !== undefined && !empty && (
        <div class="table addresses">
          <AddressHead />
          {data.addresses.map((record) => (
            <SendingAddress key={record.address} record={record} owners={data.owners} />
          ))}
        </div>
      )}
    </div>
  )
}

/** The addresses, and the organizations that dedicated ones belong to. */
async function load(signal: AbortSignal): Promise<{ addresses: Json[]; owners: Owners }> {
  const { data } = await get('/v1/sending-addresses', {}, signal)
  const ids = new Set<string>(data.flatMap(({ organization_id: id }: Json) => (id === null ? [] : [id])))
  const owners = await Promise.all([...ids].map((id) => get(`/v1/organizations/${id}`, {}, signal)))
  return { addresses: data, owners: new Map(owners.map((owner) => [owner.id, owner])) }
}

const EXAMPLE = `[[sending.addresses]]
address = "192.0.2.10"
hostname = "out1.example.com"`

function HowToConfigure() {
  return (
    <Empty name="No sending addresses">
      <p>The system chooses the address of each connection. To send from several addresses, add them to the config:</p>
      <pre>
        <code>{EXAMPLE}</code>
      </pre>
      <p>
        The reverse DNS (PTR) of each address must be its host name, and the host name must resolve to the address.
        Restart the server after the change.
      </p>
    </Empty>
  )
}
