import type { Threat } from './table.ts'

/** What libraries and peers do to a mail server without limits. */
export const FINDINGS: Threat[] = [
  {
    id: 'dns-verdict-errors',
    asset: 'verdicts',
    attack: 'TXT records of several strings, silent DNS, authentication without end',
  },
  {
    id: 'parser-exhaustion',
    asset: 'the process',
    attack: 'mail that costs a parser minutes or gigabytes, or makes it throw',
  },
  {
    id: 'signature-and-header-floods',
    asset: 'the process',
    attack: 'a thousand signatures, oversized headers and lines before a hash',
  },
  { id: 'ambiguous-authors', asset: 'verdicts', attack: 'two From fields, several authors, a group' },
  {
    id: 'smtp-listener-limits',
    asset: 'the listener',
    attack: 'missing limits: recipients, connections, drips, TLS 1.0, resets without a handler, odd parameters',
  },
  {
    id: 'address-string-confusion',
    asset: 'recipients',
    attack: 'one address string parsed as another or as several; files and URLs read into a mail; NUL in a body',
  },
  { id: 'malformed-requests', asset: 'the API', attack: 'empty bodies, deep JSON, bytes that are not a request' },
]

/** Hostile peers, DNS, clocks and endpoints. */
export const FAULTS: Threat[] = [
  {
    id: 'hanging-mail-servers',
    asset: 'delivery',
    attack: 'servers that hang or drip at any stage, stop reading, or never finish in small steps',
  },
  {
    id: 'smtp-connection-resets',
    asset: 'delivery',
    attack: 'resets at any stage and after the final dot, 421 anywhere, 4yz and 5yz to each command',
  },
  {
    id: 'broken-starttls',
    asset: 'delivery',
    attack: 'broken TLS, STARTTLS that hangs, replies of 100 KB, other protocols',
  },
  { id: 'hanging-destinations', asset: 'other destinations', attack: 'a hundred domains that hang' },
  { id: 'lying-dns', asset: 'names', attack: 'forged, lame, looping, truncated and silent DNS' },
  { id: 'odd-mx-records', asset: 'names', attack: 'MX records that are null, many, private, aliases, or unavailable' },
  {
    id: 'clock-changes',
    asset: 'time',
    attack: 'a clock that is set two hours or ten years forward or back, or stutters',
  },
  {
    id: 'failing-webhook-endpoints',
    asset: 'webhooks',
    attack: 'endpoints that fail, hang, drip, redirect, reset, send compression bombs, or have bad TLS',
  },
  {
    id: 'flapping-webhook-endpoints',
    asset: 'webhooks',
    attack: '410, 429 with Retry-After, endpoints that flap, and slow ones beside healthy ones',
  },
]
