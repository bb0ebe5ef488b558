import { useState } from 'preact/hooks'
import { zoneFile } from '../../../../../domains/zone-file.ts'
import { get, type Json, save } from '../../kit/api.ts'
import { requiredRecords } from '../../kit/domain-state.ts'
import { Icon } from '../../kit/icon.tsx'
import { useLoad } from '../../kit/load.ts'
import { Menu, MenuItem } from '../../kit/menu.tsx'
import { Choice, Copied, CopyButton, copyText } from '../../kit/pieces.tsx'
import { session } from '../../kit/state.ts'
import { Chip } from '../../kit/status.tsx'

/** The records to publish as a checklist: those that the domain needs, the wrong ones first, then the optional ones, folded.
 *  Each has its host, value and status, with copy buttons. Hosts are relative to a zone that the user chooses. If DNS has a
 *  different value, it is shown below the expected one, with the difference marked. `isChecking`: a check runs. */
export function DnsRecords({ domain, isChecking }: { domain: Json; isChecking: boolean }) {
  const records: Json[] = domain.dns_records
  const [zone, setZone] = useState(() => likelyZone(domain.name))
  const { all, wrong } = requiredRecords(domain)
  const required = [...wrong, ...all.filter(({ status }) => status === 'valid')]
  const optional = records.filter((record) => !record.required)
  const differing = optional.filter(({ status }) => status === 'mismatch').length
  return (
    <section class="stack tight" aria-label="DNS records">
      <div class="row apart">
        <h2>{wrong.length === 0 ? 'DNS records' : `${wrong.length} of ${all.length} required records to fix`}</h2>
        <Tools domain={domain} zone={zone} onZone={setZone} />
      </div>
      <DnsHost id={domain.id} />
      {wrong.length > 0 && session.value?.user.is_operator && <ApplyCommand domain={domain.name} />}
      <Records name="Required DNS records" records={required} zone={zone} isChecking={isChecking} />
      <details class="optional-records">
        <summary>
          Optional ({optional.length}){differing > 0 && `, ${differing} ${differing === 1 ? 'differs' : 'differ'}`}
        </summary>
        <Records name="Optional DNS records" records={optional} zone={zone} isChecking={isChecking} />
      </details>
    </section>
  )
}

/** Host names, copy and export of the whole list. */
function Tools({ domain, zone, onZone }: { domain: Json; zone: string; onZone: (zone: string) => void }) {
  const { name, dns_records: records } = domain
  const zones = zonesOf(name)
  const options = [...zones.map((each) => [each, `Relative to ${each}`] as const), ['', 'Full names'] as const]
  const file = () => zoneFile(name, records as never, [])
  return (
    <div class="row">
      <Choice name="Host names" value={zone} options={options} onChange={onZone} />
      <button type="button" onClick={() => copyText(file(), 'records')}>
        <Icon name="copy" />
        Copy all
      </button>
      <Menu
        name="Export"
        className=""
        label={
          <>
            <Icon name="download" />
            Export
          </>
        }
      >
        <MenuItem onPress={() => save(`${name}.zone`, 'text/plain', file())}>Export zone file</MenuItem>
        <MenuItem onPress={() => save(`${name}.json`, 'application/json', JSON.stringify(records, null, 2))}>
          Export JSON
        </MenuItem>
      </Menu>
    </div>
  )
}

/** Where the records are edited, in one line. */
function DnsHost({ id }: { id: string }) {
  const { data } = useLoad((signal) => get(`/v1/domains/${id}/dns-host`, {}, signal), [id])
  return (
    <p class="muted dns-host" aria-busy={data === undefined}>
      {data === undefined ? (
        'Looking for the DNS provider…'
      ) : data.name === null ? (
        'Add these records at your DNS provider, with the proxy off (“DNS only”). If it adds the domain itself, use the short names.'
      ) : (
        <>
          Add these records at <strong>{data.name}</strong>, with the proxy off (“DNS only”):{' '}
          <a href={data.console_url} target="_blank" rel="noreferrer">
            open its DNS console
          </a>
          . In its forms, {data.advice}
        </>
      )}
    </p>
  )
}

/** Only operators can run it: it needs the files of the server. */
function ApplyCommand({ domain }: { domain: string }) {
  const command = `postrider dns apply ${domain}`
  return (
    <p class="row copied-id">
      <span class="muted">Or on the server:</span>
      <code class="ellipsis" title={command}>
        {command}
      </code>
      <CopyButton text={command} label="command" />
    </p>
  )
}

interface RecordsProps {
  name: string
  records: Json[]
  zone: string
  isChecking: boolean
}

function Records({ name, records, zone, isChecking }: RecordsProps) {
  return (
    <div class="table">
      <table class="fixed records">
        <caption class="hidden">{name}</caption>
        <colgroup>
          <col class="col-type" />
          <col class="col-host" />
          <col />
          <col class="col-priority" />
          <col class="col-status" />
        </colgroup>
        <thead>
          <tr>
            <th scope="col">Type</th>
            <th scope="col">Host</th>
            <th scope="col">Value</th>
            <th scope="col">Priority</th>
            <th scope="col">Status</th>
          </tr>
        </thead>
        {records.map((record) => (
          <DnsRecord
            key={`${record.type} ${record.name} ${record.value}`}
            record={record}
            zone={zone}
            isChecking={isChecking}
          />
        ))}
      </table>
    </div>
  )
}

/** The name and its parents of two labels or more, the name first. */
function zonesOf(name: string): string[] {
  const labels = name.split('.')
  return labels.slice(0, Math.max(1, labels.length - 1)).map((_, at) => labels.slice(at).join('.'))
}

/** The zone that probably holds the records: the name's last two labels, or three below a suffix such as co.uk. */
function likelyZone(name: string): string {
  const labels = name.split('.')
  const isShort = (labels.at(-1)?.length ?? 0) === 2 && (labels.at(-2)?.length ?? 0) <= 3
  return labels.slice(isShort ? -3 : -2).join('.')
}

/** `bounces.shop.example` in the zone `shop.example` → `bounces`; `@` for the zone itself; the whole name without a zone or
 *  outside it. */
function hostIn(name: string, zone: string): string {
  if (zone === '') return name
  if (name === zone) return '@'
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name
}

function DnsRecord({ record, zone, isChecking }: { record: Json; zone: string; isChecking: boolean }) {
  const { purpose, type, name, value, priority, required, status, found } = record
  const label = PURPOSES[purpose] ?? purpose
  const isOther = found.length > 0 && status !== 'valid'
  const host = hostIn(name, zone)
  const hint = hintOf(record)
  return (
    <tbody aria-label={`${label}, ${name}`}>
      <tr>
        <td data-label="Type">
          <span class="mono">{type}</span>
        </td>
        <td data-label="Host">
          <div class="muted small">{label}</div>
          <Copied text={host} label={`name of ${label}`} title={name} />
        </td>
        <td data-label="Value">
          <Copied text={value} label={`value of ${label}`} />
        </td>
        <td data-label="Priority" class="num">
          {priority !== null && (
            <>
              <span class="phone-word muted">Priority </span>
              {priority}
            </>
          )}
        </td>
        <td data-label="Status" aria-busy={isChecking}>
          {isChecking && status !== 'valid' ? (
            <span class="row muted small">
              <span class="spinner" aria-hidden="true" /> Checking…
            </span>
          ) : (
            <Chip word={status} tone={!required && status !== 'valid' ? 'quiet' : undefined} />
          )}
          {!required && <div class="muted small">{RECOMMENDED.has(purpose) ? 'Recommended' : 'Optional'}</div>}
        </td>
      </tr>
      {(isOther || hint !== null) && (
        <tr>
          <td colSpan={5}>
            <div class="stack tight">
              {isOther && <Compared expected={value} found={found} />}
              {hint !== null && <p class="muted small">{hint}</p>}
            </div>
          </td>
        </tr>
      )}
    </tbody>
  )
}

const RECOMMENDED = new Set(['dmarc', 'dkim_standby'])

const PURPOSES: Record<string, string> = {
  dkim: 'DKIM key',
  dkim_standby: 'Next DKIM key',
  ownership: 'Ownership',
  spf: 'SPF for the return path',
  dmarc: 'DMARC',
  return_path: 'Return path',
  mx: 'Inbound mail',
  tls_rpt: 'TLS reports',
  tracking: 'Tracking domain',
  mta_sts: 'MTA-STS',
  mta_sts_host: 'MTA-STS host',
}

/** What DNS should have above what it has, the differing parts marked. */
function Compared({ expected, found }: { expected: string; found: string[] }) {
  return found.map((text) => {
    const { start, end } = commonEnds(expected, text)
    return (
      <dl key={text} class="compared mono">
        <dt>Expected</dt>
        <dd>
          <Marked text={expected} start={start} end={end} />
        </dd>
        <dt>In DNS</dt>
        <dd>
          <Marked text={text} start={start} end={end} />
        </dd>
      </dl>
    )
  })
}

/** Number of characters that two texts have in common at their start and, after that, at their end. */
function commonEnds(one: string, other: string): { start: number; end: number } {
  const shorter = Math.min(one.length, other.length)
  let start = 0
  while (start < shorter && one[start] === other[start]) start++
  let end = 0
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++
  return { start, end }
}

/** Characters shown on each side of a difference: a key has four hundred. */
const CONTEXT = 32

function Marked({ text, start, end }: { text: string; start: number; end: number }) {
  const stop = text.length - end
  const middle = text.slice(start, stop)
  return (
    <>
      {start > CONTEXT && '…'}
      {text.slice(Math.max(0, start - CONTEXT), start)}
      {middle === '' ? <span class="muted">(text missing)</span> : <mark>{middle}</mark>}
      {text.slice(stop, stop + CONTEXT)}
      {end > CONTEXT && '…'}
    </>
  )
}

function hintOf({ purpose, type, status, found }: Json): string | null {
  return purpose === 'dkim_standby'
    ? status === 'valid'
      ? null
      : 'Publish it now, so that DKIM keys rotate without a change of your DNS.'
    : purpose === 'return_path' && type === 'CNAME' && status === 'mismatch'
      ? 'Remove other records of this name. A name with a CNAME record has no others.'
      : purpose === 'ownership'
        ? 'Needed only if the domain receives but does not send mail. It proves ownership without DKIM keys.'
        : purpose === 'mx'
          ? 'Publish this only if no other server receives mail for this domain. All its mail will arrive here.'
          : purpose === 'dmarc' && found.length > 0 && status !== 'valid'
            ? 'A DMARC record already exists. Keep it: a domain has only one.'
            : purpose === 'spf' && found.length > 0 && status === 'mismatch'
              ? 'A name has only one SPF record. Change the existing record; do not add a second.'
              : null
}
