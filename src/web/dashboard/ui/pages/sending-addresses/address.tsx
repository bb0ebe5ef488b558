import type { ComponentChildren } from 'preact'
import type { Json } from '../../kit/api.ts'
import { number, percent, when } from '../../kit/format.ts'
import { CopyButton, Facts } from '../../kit/pieces.tsx'
import { href } from '../../kit/router.ts'
import { switchOrganization } from '../../kit/state.ts'
import { Chip, type Tone } from '../../kit/status.tsx'
import { type Column, PlainTable } from '../../kit/table.tsx'
import { shareOf } from '../statistics/rates.ts'
import { Warmup } from '../warmup.tsx'

/** Organizations by ID. */
export type Owners = ReadonlyMap<string, Json>

/** One address as a row: what it is, its state and use. Opened, it shows its DNS, owner, rests and warm-up. */
export function SendingAddress({ record, owners }: { record: Json; owners: Owners }) {
  const { address, hostname, pool, attempts, delivered, resting, warmup } = record
  const [word, tone] = stateOf(record)
  return (
    <section aria-label={address}>
      <details class="address">
        <summary>
          <span class="address-row">
            <span class="ellipsis">
              <span class="mono">{address}</span> <span class="muted small">{hostname}</span>
            </span>
            <span class="ellipsis">{pool}</span>
            <span>
              <Chip word={word} tone={tone} />
            </span>
            <span class="num">{number(attempts)}</span>
            <span class="num">{percent(shareOf(delivered, attempts), 1)}</span>
            <WarmupBar of={warmup} />
          </span>
        </summary>
        <div class="stack">
          <Facts of={factsOf(record, owners)} />
          {resting.length > 0 && <Rests of={resting} />}
          <Warmup address={address} warmup={warmup} />
        </div>
      </details>
    </section>
  )
}

/** Headings of the rows. The rows say their names to a screen reader by themselves. */
export function AddressHead() {
  return (
    <div class="address-row address-head" aria-hidden="true">
      <span>Address</span>
      <span>Pool</span>
      <span>State</span>
      <span class="num">24 h attempts</span>
      <span class="num">Delivered</span>
      <span>Warm-up</span>
    </div>
  )
}

/** `Day 3 of 30` above a bar; nothing without a warm-up. */
function WarmupBar({ of: warmup }: { of: Json | null }) {
  if (warmup === null) return <span />
  const { day, plan_days } = warmup
  return (
    <span class="small">
      Day {day} of {plan_days}
      <span class="meter" aria-hidden="true">
        <span style={{ width: `${(day / plan_days) * 100}%` }} />
      </span>
    </span>
  )
}

function stateOf({ ptr, forward_confirmed, blocklists, resting }: Json): [word: string, tone: Tone] {
  if (blocklists?.length > 0) return ['On a blocklist', 'bad']
  if (ptr === null) return ['No reverse DNS', 'bad']
  if (!forward_confirmed) return ['Reverse DNS differs', 'warn']
  if (resting.length > 0) {
    return [`Paused for ${number(resting.length)} ${resting.length === 1 ? 'destination' : 'destinations'}`, 'warn']
  }
  return ['OK', 'good']
}

function factsOf(record: Json, owners: Owners): [string, ComponentChildren][] {
  const { address, hostname, pool, node, ptr, forward_confirmed, blocklists, attempts, delivered, organization_id } =
    record
  const confirmed = forward_confirmed ? 'resolves back to the address' : 'not confirmed'
  return [
    [
      'Address',
      <span class="row copied-id">
        <code class="break">{address}</code>
        <CopyButton text={address} label="address" />
      </span>,
    ],
    ['Host name', <span class="break">{hostname}</span>],
    ['Pool', pool],
    ['Node', node ?? 'Every node'],
    ['Reverse DNS', ptr === null ? 'None' : `${ptr}, ${confirmed}`],
    ['Blocklists', blocklists === null ? 'Not checked' : blocklists.join(', ') || 'None'],
    ['Organization', pool === DEDICATED && <Owner id={organization_id} owners={owners} />],
    ['Last 24 hours', attempts === 0 ? 'No attempts' : usageOf(delivered, attempts)],
  ]
}

/** `1,180 delivered in 1,204 attempts (98.0%)`; without the share if there are too few attempts. */
function usageOf(delivered: number, attempts: number): string {
  const share = shareOf(delivered, attempts)
  const counts = `${number(delivered)} delivered in ${number(attempts)} ${attempts === 1 ? 'attempt' : 'attempts'}`
  return share === null ? counts : `${counts} (${percent(share, 1)})`
}

/** Pool whose addresses belong to one organization each. */
const DEDICATED = 'dedicated'

/** The organization of a dedicated address, with a link that selects it. */
function Owner({ id, owners }: { id: string | null; owners: Owners }) {
  const owner = owners.get(id ?? '')
  if (owner === undefined) return <>{id ?? 'Unassigned'}</>
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
      <h2>Destinations that block it</h2>
      <PlainTable
        name="Destinations that block it"
        columns={RESTS}
        rows={rests.slice(0, SHOWN)}
        keyOf={({ site }) => site}
      />
      {rests.length > SHOWN && <p class="muted">and {number(rests.length - SHOWN)} more</p>}
    </div>
  )
}

const RESTS: Column<Json>[] = [
  { name: 'Destination', show: ({ site }) => site },
  { name: 'Reason', show: ({ because }) => because },
  { name: 'Paused until', show: ({ until }) => when(until) },
]
