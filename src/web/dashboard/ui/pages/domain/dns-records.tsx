import { useState } from 'preact/hooks'
import { zoneFile } from '../../../../../domains/zone-file.ts'
import { type Json, save } from '../../kit/api.ts'
import { Icon } from '../../kit/icon.tsx'
import { Menu, MenuItem } from '../../kit/menu.tsx'
import { Choice, CopyButton, copyText } from '../../kit/pieces.tsx'
import { Chip } from '../../kit/status.tsx'

/** The records to publish in one table: purpose, type, host, value and status, with copy buttons. Hosts are relative to a
 *  zone that the user chooses. If DNS has a different value, a second row marks the difference. */
export function DnsRecords({ domain }: { domain: Json }) {
  const records: Json[] = domain.dns_records
  const zones = zonesOf(domain.name)
  const [zone, setZone] = useState(() => likelyZone(domain.name))
  const options = [...zones.map((each) => [each, `Relative to ${each}`] as const), ['', 'Full names'] as const]
  const file = () => zoneFile(domain.name, records as never, [])
  return (
    <section class="stack tight" aria-label="DNS records">
      <div class="row apart">
        <h2>DNS records</h2>
        <div class="row">
          <Choice name="Host names" value={zone} options={options} onChange={setZone} />
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
            <MenuItem onPress={() => save(`${domain.name}.zone`, 'text/plain', file())}>Export zone file</MenuItem>
            <MenuItem onPress={() => save(`${domain.name}.json`, 'application/json', JSON.stringify(records, null, 2))}>
              Export JSON
            </MenuItem>
          </Menu>
        </div>
      </div>
      <div class="table">
        <table class="fixed records">
          <caption class="hidden">DNS records</caption>
          <colgroup>
            <col class="col-type" />
            <col class="col-host" />
            <col />
            <col class="col-status" />
          </colgroup>
          <thead>
            <tr>
              <th scope="col">Type</th>
              <th scope="col">Host</th>
              <th scope="col">Value</th>
              <th scope="col">Status</th>
            </tr>
          </thead>
          {records.map((record) => (
            <DnsRecord key={`${record.type} ${record.name} ${record.value}`} record={record} zone={zone} />
          ))}
        </table>
      </div>
    </section>
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

function DnsRecord({ record, zone }: { record: Json; zone: string }) {
  const { purpose, type, name, value, priority, required, status, found } = record
  const label = PURPOSES[purpose] ?? purpose
  const isOther = status === 'mismatch' && found.length > 0
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
          <span class="row copied-id">
            <code class="ellipsis" title={name}>
              {host}
            </code>
            <CopyButton text={host} label={`name of ${label}`} />
          </span>
        </td>
        <td data-label="Value">
          <span class="row copied-id">
            <code class="ellipsis" title={value}>
              {priority === null ? value : `${priority} ${value}`}
            </code>
            <CopyButton text={value} label={`value of ${label}`} />
          </span>
        </td>
        <td data-label="Status">
          <Chip word={status} tone={!required && status !== 'valid' ? 'quiet' : undefined} />
          <div class="muted small">{required ? 'Required' : RECOMMENDED.has(purpose) ? 'Recommended' : 'Optional'}</div>
        </td>
      </tr>
      {(isOther || hint !== null) && (
        <tr>
          <td colSpan={4}>
            <div class="stack tight">
              {isOther &&
                found.map((text: string) => (
                  <p key={text} class="mono found">
                    In DNS: <Difference expected={value} text={text} />
                  </p>
                ))}
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

/** The value in DNS, with the part that differs marked. */
function Difference({ expected, text }: { expected: string; text: string }) {
  let start = 0
  while (start < Math.min(expected.length, text.length) && expected[start] === text[start]) start++
  let end = 0
  const most = Math.min(expected.length, text.length) - start
  while (end < most && expected.at(-1 - end) === text.at(-1 - end)) end++
  const middle = text.slice(start, text.length - end)
  return (
    <>
      {text.slice(0, start)}
      {middle === '' ? <span class="muted">(text missing)</span> : <mark>{middle}</mark>}
      {end > 0 && text.slice(-end)}
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
