import type { ComponentChildren } from 'preact'
import { ApiError } from '../../../src/web/dashboard/ui/kit/api.ts'
import { Chart } from '../../../src/web/dashboard/ui/kit/chart.tsx'
import type { Pages } from '../../../src/web/dashboard/ui/kit/load.ts'
import { MailFrame } from '../../../src/web/dashboard/ui/kit/mail-frame.tsx'
import { Empty, Facts, Head, Time, Timeline } from '../../../src/web/dashboard/ui/kit/pieces.tsx'
import { QrCode } from '../../../src/web/dashboard/ui/kit/qr-code.tsx'
import { Chip, MARKS, type Tone } from '../../../src/web/dashboard/ui/kit/status.tsx'
import { type Column, Pager, PlainTable, Table } from '../../../src/web/dashboard/ui/kit/table.tsx'

const AT = '2026-11-21T12:00:00.000Z'
const HOUR_MS = 3_600_000
const TIMES = [0, 1, 2, 3].map((hour) => Date.parse(AT) + hour * HOUR_MS)

interface Row {
  id: string
  to: string
  status: string
}
const ROWS: Row[] = ['delivered', 'deferred', 'bounced', 'suppressed'].map((status, at) => ({
  id: `msg_${at}`,
  to: `a.rather.long.name.of.a.customer.${at}@mail.customer.example`,
  status,
}))
const COLUMNS: Column<Row>[] = [
  { name: 'To', phone: 'top-left', show: ({ to }) => to, by: ({ to }) => to },
  { name: 'Status', width: '140px', phone: 'last', show: ({ status }) => <Chip word={status} /> },
  { name: 'Sent', width: '120px', phone: 'end', isNumber: true, show: () => <Time at={AT} /> },
]
const list = (change: Partial<Pages<Row>>): Pages<Row> => ({
  data: ROWS,
  error: undefined,
  isLoading: false,
  reload: () => {},
  hasOlder: true,
  hasNewer: false,
  isCut: false,
  older: () => {},
  newer: () => {},
  ...change,
})

/** Headings, chips, tables in all states, facts, timelines, charts and messages. */
export function Data() {
  return (
    <>
      <Head name="Components" about="Every component of the kit in its states.">
        <button type="button" class="primary">
          Action
        </button>
      </Head>
      <section class="card stack" aria-label="Chips">
        <h2>Chips</h2>
        <div class="row">
          {Object.keys(MARKS).map((tone) => (
            <Chip key={tone} word={tone} tone={tone as Tone} />
          ))}
          <Time at={null} />
        </div>
      </section>
      <Tables />
      <section class="card stack" aria-label="Facts">
        <Facts
          of={[
            ['Size', '1.2 KiB'],
            ['ID', <code key="id">msg_1</code>],
            ['Not shown', null],
          ]}
        />
        <Timeline
          name="Timeline"
          moments={Object.keys(MARKS).map((tone) => ({
            key: tone,
            tone: tone as Tone,
            at: '12:00:00',
            iso: AT,
            what: `A ${tone} moment`,
            more: <code class="break">250 2.0.0 OK</code>,
          }))}
        />
      </section>
      <section class="card stack" aria-label="Charts">
        <Chart
          name="Stacked"
          times={TIMES}
          label={(at) => new Date(at).toISOString()}
          lines={[
            { name: 'Delivered', colour: '--good', values: [4, 8, 2, 6] },
            { name: 'Bounced', colour: '--bad', values: [1, 0, 2, 0] },
          ]}
        />
        <Chart
          name="With a limit"
          times={TIMES}
          label={(at) => new Date(at).toISOString()}
          isStacked={false}
          limit={5}
          lines={[{ name: 'Rate', colour: '--warn', values: [4, 8, 2, 6] }]}
        />
      </section>
      <section class="card stack" aria-label="Message">
        <MailFrame html="<p>Hello <b>Ann</b></p>" />
        <QrCode text="https://mail.example.com" label="QR code of an address" />
      </section>
    </>
  )
}

function Tables() {
  const more = list({ hasNewer: true })
  return (
    <>
      <Named name="Rows">
        <Table
          name="Rows"
          columns={COLUMNS}
          loaded={more}
          keyOf={({ id }) => id}
          link={({ id }) => `/dashboard/messages/${id}`}
          bulk={{ nameOf: ({ to }) => to, actions: [{ name: 'Resend', run: async () => false }] }}
          whenEmpty={null}
        />
        <Pager pages={more} />
      </Named>
      <Named name="Loading">
        <Table
          name="Loading"
          columns={COLUMNS}
          loaded={list({ data: undefined, isLoading: true })}
          keyOf={({ id }) => id}
          whenEmpty={null}
        />
      </Named>
      <Named name="Empty">
        <Table
          name="Empty"
          columns={COLUMNS}
          loaded={list({ data: [], hasOlder: false })}
          keyOf={({ id }) => id}
          whenEmpty={
            <Empty name="No messages yet">
              <p>Send one with an API key.</p>
            </Empty>
          }
        />
      </Named>
      <Named name="Not searched to the end">
        <Table
          name="Not searched to the end"
          columns={COLUMNS}
          loaded={list({ data: [], isCut: true })}
          keyOf={({ id }) => id}
          whenEmpty={<Empty name="No messages match" />}
        />
      </Named>
      <Named name="In a card">
        <PlainTable name="In a card" columns={COLUMNS} rows={more.data ?? []} keyOf={({ id }) => id} />
      </Named>
      <Named name="Failed">
        <Table
          name="Failed"
          columns={COLUMNS}
          loaded={list({ data: undefined, error: new ApiError(503, 'unavailable', 'The database does not respond.') })}
          keyOf={({ id }) => id}
          whenEmpty={null}
        />
      </Named>
    </>
  )
}

function Named({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <section class="stack tight" aria-label={name}>
      <h2>{name}</h2>
      {children}
    </section>
  )
}
