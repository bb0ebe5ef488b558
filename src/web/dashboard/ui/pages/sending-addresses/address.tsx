import type { ComponentChildren } from 'preact'
import type { Json } from '../../kit/api.ts'
import { number, percent, when } from '../../kit/format.ts'
import { CopyButton, Facts, withBreaks } from '../../kit/pieces.tsx'
import { href } from '../../kit/router.ts'
import { switchOrganization } from '../../kit/state.ts'
import { Chip, type Tone } from '../../kit/status.tsx'

/** Organizations by ID. */
export type Owners = ReadonlyMap<string, Json>

/** One address: whether it is in order, what DNS says about it, who uses it, and where it rests. */
export function SendingAddress({ record, owners }: { record: Json; owners: Owners }) {
  const { address, hostname, resting } = record
  const [word, tone] = stateOf(record)
  return (
    <section class="card stack" aria-label={address}>
      <div class="row apart">
        <div class="stack tight">
          <div class="row copied-id">
            <h2 class="mono">{withBreaks(address)}</h2>
            <CopyButton text={address} label="address" />
          </div>
          <p class="muted break">{hostname}</p>
        </div>
        <Chip word={word} tone={tone} />
      </div>
      <Facts of={factsOf(record, owners)} />
      {resting.length > 0 && <Rests of={resting} />}
    </section>
  )
}

function stateOf({ ptr, forward_confirmed, blocklists, resting }: Json): [word: string, tone: Tone] {
  if (blocklists?.length > 0) return ['On a blocklist', 'bad']
  if (ptr === null) return ['No reverse DNS', 'bad']
  if (!forward_confirmed) return ['Reverse DNS differs', 'warn']
  if (resting.length > 0) {
    return [`Rests at ${number(resting.length)} ${resting.length === 1 ? 'destination' : 'destinations'}`, 'warn']
  }
  return ['OK', 'good']
}

function factsOf(record: Json, owners: Owners): [string, ComponentChildren][] {
  const { pool, node, ptr, forward_confirmed, blocklists, attempts, delivered, organization_id } = record
  const confirmed = forward_confirmed ? 'resolves back to the address' : 'not confirmed'
  return [
    ['Pool', pool],
    ['Node', node ?? 'Every node'],
    ['Reverse DNS', ptr === null ? 'None' : `${ptr}, ${confirmed}`],
    ['Blocklists', blocklists === null ? 'Not asked' : blocklists.join(', ') || 'None'],
    ['Organization', pool === DEDICATED && <Owner id={organization_id} owners={owners} />],
    ['Attempts', number(attempts)],
    ['Delivered', attempts === 0 ? '0' : `${number(delivered)} (${percent(delivered / attempts, 1)})`],
  ]
}

/** Pool whose addresses belong to one organization each. */
const DEDICATED = 'dedicated'

/** The organization of a dedicated address, with a link that selects it. */
function Owner({ id, owners }: { id: string | null; owners: Owners }) {
  const owner = owners.get(id ?? '')
  if (owner === undefined) return <>{id ?? 'None yet: spare'}</>
  const { name, plan } = owner
  return (
    <a href={href('/organizations')} onClick={() => switchOrganization({ id: owner.id, name, plan })}>
      {name}
    </a>
  )
}

/** Rows that are shown; an address that everyone blocks rests at thousands of destinations. */
const SHOWN = 20

function Rests({ of: rests }: { of: Json[] }) {
  return (
    <div class="stack tight">
      <h3>Destinations that block it</h3>
      <table class="plain cards">
        <caption class="hidden">Destinations that block it</caption>
        <thead>
          <tr>
            <th scope="col">Destination</th>
            <th scope="col">Reason</th>
            <th scope="col">Rests until</th>
          </tr>
        </thead>
        <tbody>
          {rests.slice(0, SHOWN).map(({ site, because, until }) => (
            <tr key={site}>
              <td data-label="Destination" class="break">
                {site}
              </td>
              <td data-label="Reason">{because}</td>
              <td data-label="Rests until">{when(until)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rests.length > SHOWN && <p class="muted">and {number(rests.length - SHOWN)} more</p>}
    </div>
  )
}
