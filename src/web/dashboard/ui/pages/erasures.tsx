import { Fragment } from 'preact'
import type { Json } from '../kit/api.ts'
import { number } from '../kit/format.ts'
import { usePages } from '../kit/load.ts'
import { Empty, Head, Time } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { amendQuery, href, place } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { EraseRecipient } from './erasures/erase.tsx'

/** Erasures of recipients: begin one, and see what each has removed. `?erase=ADDRESS` opens the form. */
export default function ErasuresPage() {
  const { erase } = place.value.query
  const pages = usePages('/v1/recipients/erasures', {}, { everyMs: 5_000 })
  const begin = may('recipients_erase') && (
    <button type="button" class="primary" onClick={() => amendQuery({ erase: ASK })}>
      Erase recipient
    </button>
  )
  return (
    <>
      <Head
        name="Erasures"
        about="Erasing a recipient removes the address and the mail to it from live and test records of the organization."
      >
        {begin}
      </Head>
      <Table
        name="Erasures"
        columns={COLUMNS}
        loaded={pages}
        keyOf={({ id }) => id}
        whenEmpty={
          <Empty name="No erasures">
            <p>When a person asks you to delete their data, erase their address here.</p>
            {begin}
          </Empty>
        }
      />
      <Pager pages={pages} />
      {erase && may('recipients_erase') && (
        <EraseRecipient
          email={erase === ASK ? '' : erase}
          onClose={() => amendQuery({ erase: '' })}
          onDone={pages.reload}
        />
      )}
    </>
  )
}

/** Value of `erase` without an address. */
const ASK = 'yes'

const COLUMNS: Column<Json>[] = [
  {
    name: 'Started',
    width: '140px',
    phone: 'top-left',
    show: ({ created_at }) => <Time at={created_at} />,
    by: ({ created_at }) => created_at,
  },
  {
    name: 'Status',
    width: '120px',
    phone: 'end',
    show: ({ status }) => <Chip word={status} tone={status === 'done' ? 'good' : 'calm'} />,
  },
  { name: 'Removed', phone: 'sub', show: removedOf },
  { name: 'Still named by', width: '180px', phone: 'last', show: remainingOf },
  {
    name: 'Hash of the address',
    width: '200px',
    isExtra: true,
    show: ({ address_hash: hash }) => (
      <code title={hash} class="ellipsis">
        {hash.slice(0, 16)}…
      </code>
    ),
  },
  {
    name: 'Finished',
    width: '140px',
    isExtra: true,
    show: ({ finished_at }) => <Time at={finished_at} />,
    by: ({ finished_at }) => finished_at ?? '',
  },
]

/** What an erasure has removed so far, in words. */
function removedOf({ status, removed }: Json): string {
  const parts = NOUNS.flatMap(([name, one, several]) => {
    const count = removed[name]
    return count === 0 ? [] : [`${number(count)} ${count === 1 ? one : several}`]
  })
  return parts.join(', ') || (status === 'done' ? 'Nothing' : 'Nothing yet')
}

const NOUNS = [
  ['messages', 'message', 'messages'],
  ['shared_messages', 'shared message', 'shared messages'],
  ['events', 'event', 'events'],
  ['inbound_messages', 'inbound message', 'inbound messages'],
  ['responses', 'stored response', 'stored responses'],
  ['suppressions', 'suppressed address', 'suppressed addresses'],
] as const

/** Links to the records that still name the address, which the user changes. */
function remainingOf({ remaining }: Json) {
  const types = [...new Set<keyof typeof PLACES>(remaining.map(({ type }: Json) => type))]
  if (types.length === 0) return '–'
  return types.map((type, at) => (
    <Fragment key={type}>
      {at > 0 && ', '}
      <a href={PLACES[type].link}>{PLACES[type].name}</a>
    </Fragment>
  ))
}

const PLACES = {
  user: { name: 'user', link: href('/users') },
  invitation: { name: 'invitation', link: href('/users') },
  inbound_route: { name: 'route', link: href('/inbound', { tab: 'routes' }) },
  forward_target: { name: 'forward target', link: href('/inbound', { tab: 'routes' }) },
}
