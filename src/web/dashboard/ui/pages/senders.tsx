import { useState } from 'preact/hooks'
import { get, type Json } from '../kit/api.ts'
import { exact, number, percent } from '../kit/format.ts'
import { type Loaded, useLoad } from '../kit/load.ts'
import { Empty, ErrorNotice, Facts, Head, Segments } from '../kit/pieces.tsx'
import { href } from '../kit/router.ts'
import { Chip, type Tone } from '../kit/status.tsx'
import { type Column, PlainTable, Table } from '../kit/table.tsx'

/** Who sends in the name of a domain, from the DMARC reports of receivers, and how TLS to its hosts works. */
export default function SendersPage({ domain_id: id }: { domain_id: string }) {
  const [days, setDays] = useState<'7' | '30'>('30')
  const from = new Date(Date.now() - Number(days) * DAY_MS).toISOString()
  const about = [id, days]
  const domain = useLoad<Json>((signal) => get(`/v1/domains/${id}`, {}, signal), [id])
  const dmarc = useLoad<Json>((signal) => get(`/v1/domains/${id}/dmarc`, { from }, signal), about)
  const tls = useLoad<Json>((signal) => get(`/v1/domains/${id}/tls-reports`, { from }, signal), about)
  const name = domain.data?.name
  return (
    <div class="stack">
      <Head
        name="DMARC reports"
        about={
          name === undefined ? (
            '\u00a0'
          ) : (
            <>
              Who sends as <a href={href(`/domains/${id}`)}>{name}</a>
            </>
          )
        }
      >
        <Segments
          name="Period"
          options={[
            ['7', '7 days'],
            ['30', '30 days'],
          ]}
          chosen={days}
          onChoose={setDays}
        />
      </Head>
      {(dmarc.data ?? dmarc.error) === undefined ? (
        <p class="muted" aria-busy="true">
          Loading reports…
        </p>
      ) : (
        <>
          <Advice loaded={dmarc} />
          <Sources loaded={dmarc} />
        </>
      )}
      {dmarc.data !== undefined && <TlsResults loaded={tls} />}
    </div>
  )
}

const DAY_MS = 86_400_000

function Advice({ loaded: { data } }: { loaded: Loaded<Json> }) {
  if (data === undefined) return null
  const { advice, totals } = data
  const { passed, messages, reports, sources, disposition } = totals
  return (
    <section class="card stack" aria-labelledby="advice">
      <h2 id="advice">DMARC policy</h2>
      <p class="notice" role="status">
        {advice.text}
      </p>
      {messages > 0 && (
        <Facts
          of={[
            ['Reports', number(reports)],
            ['Sources', number(sources)],
            ['Messages', number(messages)],
            ['Passed', `${number(passed)} (${percent(passed / messages, 1)})`],
            ['Quarantined', number(disposition.quarantine)],
            ['Rejected', number(disposition.reject)],
          ]}
        />
      )}
    </section>
  )
}

const KINDS: Record<string, [word: string, tone: Tone]> = {
  ours: ['This server', 'good'],
  known: ['Known service', 'calm'],
  unknown: ['Unknown', 'quiet'],
}

const SOURCES: Column<Json>[] = [
  {
    name: 'Source',
    show: ({ source_ip, ptr, provider, messages, spf_aligned, dkim_aligned }) => (
      <div>
        <div class="break">{provider ?? ptr ?? source_ip}</div>
        {(provider ?? ptr) !== null && (
          <div class="muted small mono break">
            {source_ip}
            {provider !== null && `, ${ptr}`}
          </div>
        )}
        <div class="muted small phone-word">
          SPF {share(spf_aligned, messages)}, DKIM {share(dkim_aligned, messages)}
        </div>
      </div>
    ),
    by: ({ provider, ptr, source_ip }) => provider ?? ptr ?? source_ip,
    phone: 'top-left',
  },
  {
    name: 'Kind',
    show: ({ kind }) => <Chip word={KINDS[kind]?.[0] ?? kind} tone={KINDS[kind]?.[1]} />,
    by: ({ kind }) => kind,
    phone: 'end',
  },
  {
    name: 'Messages',
    show: ({ messages }) => number(messages),
    by: ({ messages }) => messages,
    isNumber: true,
    phone: 'last',
  },
  {
    name: 'SPF',
    show: ({ spf_aligned, messages }) => share(spf_aligned, messages),
    by: ({ spf_aligned, messages }) => spf_aligned / Math.max(1, messages),
    isNumber: true,
  },
  {
    name: 'DKIM',
    show: ({ dkim_aligned, messages }) => share(dkim_aligned, messages),
    by: ({ dkim_aligned, messages }) => dkim_aligned / Math.max(1, messages),
    isNumber: true,
  },
  {
    name: 'Rejected',
    show: ({ disposition }) => number(disposition.reject),
    by: ({ disposition }) => disposition.reject,
    isNumber: true,
    isExtra: true,
  },
  {
    name: 'Reporters',
    show: ({ reporters, last_seen }) => (
      <div title={`last ${exact(last_seen)}`}>
        <div class="break">{reporters.slice(0, 3).join(', ')}</div>
        {reporters.length > 3 && <div class="muted small">and {reporters.length - 3} more</div>}
      </div>
    ),
    isExtra: true,
  },
]

function share(part: number, messages: number): string {
  return messages === 0 ? '–' : percent(part / messages, part === 0 || part === messages ? 0 : 1)
}

function Sources({ loaded }: { loaded: Loaded<Json> }) {
  return (
    <section class="card stack" aria-labelledby="sources">
      <h2 id="sources">Sources</h2>
      <p class="muted">Share of messages that pass SPF and DKIM for your domain.</p>
      <Table
        name="Sources"
        columns={SOURCES}
        loaded={{ ...loaded, data: loaded.data?.data as Json[] | undefined }}
        keyOf={({ source_ip }) => source_ip}
        whenEmpty={
          <Empty name="No reports">
            <p>Receivers send one report a day after the DMARC record is published.</p>
          </Empty>
        }
      />
      <UnknownReporters of={loaded.data?.unknown_reporters ?? []} />
    </section>
  )
}

function UnknownReporters({ of }: { of: Json[] }) {
  if (of.length === 0) return null
  const claims = of.map(({ reporter, messages }) => `${reporter} (${number(messages)})`)
  return <p class="muted small break">Not counted, claims of unknown reporters: {claims.join(', ')}</p>
}

/** Policies of TLS reports, RFC 8460 §4.4. */
const POLICIES: Record<string, string> = { sts: 'MTA-STS', tlsa: 'DANE', 'no-policy-found': 'None' }

function TlsResults({ loaded: { data, error, reload } }: { loaded: Loaded<Json> }) {
  if (data === undefined) return <ErrorNotice error={error} onRetry={reload} />
  if (data.data.length === 0) return null
  return (
    <section class="card stack" aria-labelledby="tls">
      <h2 id="tls">TLS reports</h2>
      <p class="muted">
        {number(data.totals.successful)} successful and {number(data.totals.failed)} failed connections to your mail
        hosts.
      </p>
      <PlainTable<Json>
        name="TLS results"
        columns={TLS_RESULTS}
        rows={data.data}
        keyOf={({ result, policy, mx_host }) => `${result} ${policy} ${mx_host}`}
      />
    </section>
  )
}

const TLS_RESULTS: Column<Json>[] = [
  {
    name: 'Result',
    show: ({ result }) => <Chip word={result.replaceAll('-', ' ')} tone={result === 'success' ? 'good' : 'bad'} />,
  },
  { name: 'Policy', show: ({ policy }) => POLICIES[policy] ?? policy },
  { name: 'Host', show: ({ mx_host }) => mx_host ?? '–' },
  { name: 'Reporters', show: ({ reporters }) => reporters.join(', ') },
  { name: 'Connections', isNumber: true, show: ({ sessions }) => number(sessions) },
]
