import type { Threat } from './table.ts'

/** Hostile strangers, tenants and files. */

/** At the public ports and in mail. */
export const STRANGERS: Threat[] = [
  {
    id: 'bounce-backtracking',
    asset: 'availability',
    attack: 'a bounce or a reply whose text makes a pattern take minutes',
  },
  { id: 'header-cost', asset: 'availability', attack: 'header text that is costly to encode or decode' },
  {
    id: 'author-list-cost',
    asset: 'availability',
    attack: 'a From with so many addresses that reading them holds a thread',
  },
  {
    id: 'dkim-header-cost',
    asset: 'availability',
    attack: 'signatures and header lines whose combination takes quadratic work',
  },
  {
    id: 'dkim-body-cost',
    asset: 'availability',
    attack: 'a large mail with many signatures whose l= tags each ask for a body hash of their own',
  },
  {
    id: 'internationalized-name-cost',
    asset: 'availability',
    attack: 'domain names of hundreds of different characters, whose A-labels take quadratic work',
  },
  {
    id: 'dns-answer-cost',
    asset: 'availability',
    attack: 'DNS answers of 64 KiB whose compressed names or strings expand to a hundred times as much',
  },
  {
    id: 'dns-cache-memory',
    asset: 'memory',
    attack: 'thousands of large DNS answers, each remembered for a day',
  },
  {
    id: 'smtp-command-flood',
    asset: 'availability',
    attack: 'pipelined commands without end, such as one known recipient again and again',
  },
  { id: 'cost-per-byte', asset: 'availability', attack: 'any input of a parser whose cost grows faster than its size' },
  {
    id: 'report-bombs',
    asset: 'availability',
    attack: 'a DMARC or TLS report that unpacks to gigabytes, in layers, files, records or depth',
  },
  {
    id: 'report-entities',
    asset: 'the machine',
    attack: 'XML entities of a DMARC report that expand, read a file or fetch an address',
  },
  {
    id: 'report-forged',
    asset: 'the figures about a domain',
    attack: 'a DMARC report in the name of a large reporter, or about a domain of another organization',
  },
  {
    id: 'report-repeated',
    asset: 'the figures about a domain',
    attack: 'a DMARC or TLS report that is sent again, changed, or to several nodes at once',
  },
  {
    id: 'report-flood',
    asset: 'the store',
    attack: 'DMARC reports without end about a domain whose report address is in DNS, with other sources each time',
  },
  { id: 'poisonous-inbound-mail', asset: 'availability', attack: 'a mail that ends its reader again and again' },
  {
    id: 'reader-breakout',
    asset: 'the machine',
    attack: 'code execution in the parser of inbound mail: files, network, processes',
  },
  {
    id: 'reader-lies',
    asset: 'the main process',
    attack: 'a reader under foreign control: hostile frames, floods of questions, false answers, other signatures',
  },
  {
    id: 'reader-traffic',
    asset: 'the main thread',
    attack:
      'a reader under foreign control that sends large messages of a known kind, or writes to stderr, without end',
  },
  { id: 'reader-memory', asset: 'memory', attack: 'a mail that makes its reader grow without end' },
  {
    id: 'smtp-connections-of-one-network',
    asset: 'the SMTP listener',
    attack: 'connection after connection from the addresses of one network',
  },
  {
    id: 'smtp-connection-flood',
    asset: 'the SMTP listener',
    attack: 'silent connections until no other client finds a place',
  },
  { id: 'smtp-mail-flood', asset: 'availability', attack: 'more mail from one network than the server can read' },
  { id: 'smtp-recipient-guessing', asset: 'recipients', attack: 'guessing which recipients exist' },
  { id: 'smtp-network-table', asset: 'memory', attack: 'more client networks than there is memory to count' },
  {
    id: 'dns-slots-of-silent-domains',
    asset: 'inbound mail',
    attack: 'mail from domains whose DNS never answers, until every lookup waits',
  },
  {
    id: 'endless-interim-answers',
    asset: 'availability',
    attack: 'interim answers, headers or chunks without end from an HTTPS peer',
  },
  {
    id: 'main-thread-held',
    asset: 'availability',
    attack: 'large mail, floods of requests or bodies that never end, which the main thread handles in one piece',
  },
  { id: 'policy-cost', asset: 'availability', attack: 'an MTA-STS policy whose text holds the main thread' },
  {
    id: 'half-open-requests',
    asset: 'open files',
    attack: 'slow requests and connections without end at the HTTP listener',
  },
  {
    id: 'duplicate-host',
    asset: 'every resource',
    attack: 'two Host headers that a proxy and the server read differently',
  },
  { id: 'dns-rebinding', asset: 'the operator', attack: 'a foreign name that leads a browser to this server' },
  {
    id: 'cross-origin-change',
    asset: 'the operator',
    attack: 'a change that another site makes in the name of a signed-in operator',
  },
  { id: 'session-fixation', asset: 'the operator', attack: 'a session cookie that another host of the site sets' },
  { id: 'cached-answer', asset: 'every resource', attack: 'an answer for one client that a cache gives to another' },
  {
    id: 'mail-frame-clobbering',
    asset: 'the operator',
    attack: 'inbound HTML that replaces functions of the page that shows it',
  },
  {
    id: 'mail-frame-requests',
    asset: 'the operator',
    attack: "inbound HTML that reports its reader or asks the operator's own network",
  },
  { id: 'browser-backtracking', asset: 'the operator', attack: "a sender's name that holds the browser" },
  {
    id: 'bidirectional-name',
    asset: 'people who read names',
    attack: 'a name with characters that reorder or hide its letters',
  },
  { id: 'terminal-names', asset: 'the operator', attack: 'a name that acts at the terminal of the command line' },
  { id: 'terminal-log', asset: 'the operator', attack: 'a name that acts at the terminal of the log' },
]

/** With valid keys. */
export const TENANTS: Threat[] = [
  { id: 'hostile-content-holds-delivery', asset: 'delivery', attack: 'a mail whose preparation never ends' },
  {
    id: 'tenant-content-holds-main-thread',
    asset: 'availability',
    attack: 'content that is costly to read, analyze or render',
  },
  {
    id: 'shared-destination-backlog',
    asset: 'delivery',
    attack: 'a backlog for a destination to which others send as well',
  },
  {
    id: 'hanging-destinations-of-one-tenant',
    asset: 'delivery',
    attack: 'destinations that hang, or whose DNS is silent, until no place is left for mail of others',
  },
  { id: 'link-of-blanks', asset: 'delivery', attack: 'an address of blanks in a tracked link' },
  { id: 'content-id-brackets', asset: 'availability', attack: 'a Content-ID of brackets in stored mail' },
  { id: 'seven-bit-cost', asset: 'availability', attack: 'submitted or forwarded mail that is costly to re-encode' },
  { id: 'analysis-cost', asset: 'availability', attack: 'HTML or CSS that is costly to analyze' },
  {
    id: 'analysis-budget',
    asset: 'availability',
    attack: 'the largest HTML that an analysis takes, dense with tags and declarations',
  },
  { id: 'template-comment-lines', asset: 'availability', attack: 'a template that is costly to parse' },
  {
    id: 'tenant-object-limits',
    asset: 'storage',
    attack: 'webhooks, routes, templates, keys and the like without end',
  },
  {
    id: 'burst-of-requests',
    asset: 'availability',
    attack: 'all requests of a minute at once: those of others wait behind them',
  },
  {
    id: 'refusals-without-end',
    asset: 'availability',
    attack: 'a key over its rate limit repeats each request at once: refusing it takes the main thread from others',
  },
  {
    id: 'failing-endpoints-without-end',
    asset: 'availability',
    attack: 'endpoints that fail at once: thousands of requests to them take the main thread from others',
  },
  { id: 'tenant-stored-bytes', asset: 'storage', attack: 'content without end' },
  { id: 'tenant-dead-keys', asset: 'storage', attack: 'keys that are made and revoked without end' },
  { id: 'audit-log-flood', asset: 'storage', attack: 'refused requests that fill the audit log' },
  {
    id: 'inbound-storage-full',
    asset: 'storage',
    attack: 'inbound mail of one organization that fills the disk of all',
  },
  {
    id: 'webhook-slots-of-one-tenant',
    asset: 'webhooks',
    attack: 'endpoints of one organization that hang until no request slot is left',
  },
  {
    id: 'batch-holds-main-thread',
    asset: 'availability',
    attack: 'the largest batches and many large sends at once, which hold the thread while they are written',
  },
  {
    id: 'batch-cut-off',
    asset: 'recipients',
    attack: 'a batch that is cut off between two transactions and repeated with its key',
  },
  {
    id: 'poisonous-jobs-of-one-tenant',
    asset: 'availability',
    attack: 'content that ends thread after thread, in each of which others have work',
  },
  {
    id: 'exception-in-one-job',
    asset: 'availability',
    attack:
      'input that meets a bug, in a thread where others have work: an exception, also in a later event of the job',
  },
  { id: 'fan-out-slices', asset: 'availability', attack: 'one event for thousands of webhooks' },
  {
    id: 'waiting-requests-held',
    asset: 'memory and connections',
    attack: 'requests that wait for an outcome, without end',
  },
  { id: 'streams-held', asset: 'event streams', attack: 'event streams without end' },
  {
    id: 'server-name-claimed',
    asset: 'inbound mail',
    attack: 'a tenant adds a name of the server to receive mail for admin@ there',
  },
  {
    id: 'derived-host-claimed',
    asset: 'inbound mail',
    attack: 'a domain at or below the return path, tracking or MTA-STS host of another',
  },
  {
    id: 'unproved-domain-receives',
    asset: 'inbound mail',
    attack: 'a name that nobody proved gets mail, links or a certificate',
  },
  { id: 'unproved-mta-sts', asset: 'TLS policy', attack: 'a policy host for a name that nobody proved' },
  { id: 'claim-of-a-name', asset: 'domains', attack: 'a claim that blocks or outruns the owner of a name' },
  { id: 'proof-lost', asset: 'domains', attack: 'a name that changed hands and stays owned' },
  { id: 'foreign-tracking-host', asset: 'recipients', attack: 'a link of one tenant under the host of another' },
  { id: 'blocked-target', asset: 'recipients', attack: 'a click target that is abused' },
  {
    id: 'forward-target-confirmed',
    asset: 'sending reputation',
    attack: 'a forward route to an address whose owner never agreed',
  },
  {
    id: 'forward-confirmed-by-tenant',
    asset: 'recipients',
    attack: 'an organization reads the link that asks a stranger, and confirms the forward in the stranger’s place',
  },
  {
    id: 'secret-link-comes-back',
    asset: 'the accounts of users',
    attack: 'a mailbox elsewhere sends the server’s own mail with a secret link back to a route, where others read it',
  },
  { id: 'forward-confirmation-bomb', asset: 'recipients', attack: 'confirmation mails without end to one address' },
  {
    id: 'forward-counts-as-sending',
    asset: 'sending reputation',
    attack: 'forwarding to get around the volume of the plan',
  },
  {
    id: 'forward-needs-owned-domain',
    asset: 'sending reputation',
    attack: 'forwarding through a name that nobody proved',
  },
  { id: 'forward-obeys-quality-stop', asset: 'sending reputation', attack: 'forwarding while sending is stopped' },
  { id: 'forward-amplification', asset: 'sending reputation', attack: 'one inbound mail that becomes hundreds' },
  { id: 'forward-loop-through-list', asset: 'sending reputation', attack: 'a forward to a list that sends back' },
  { id: 'dkim-added-header', asset: 'recipients', attack: 'a second copy of a header in front of a signed mail' },
  {
    id: 'smarthost-password',
    asset: 'the smarthost account',
    attack: 'a host that poses as the smarthost to get its password',
  },
]

/** On the machine, and in what an operator opens. */
export const FILES: Threat[] = [
  { id: 'backup-names', asset: 'the machine', attack: 'a backup with names that no backup holds' },
  { id: 'backup-path', asset: 'the machine', attack: 'a backup that says where it is to be restored' },
  { id: 'backup-schema', asset: 'the store', attack: 'a backup whose database runs code of its own' },
  {
    id: 'changed-backups',
    asset: 'every account',
    attack: 'a backup to which somebody adds an operator where it is stored, or a file of another backup',
  },
  { id: 'restore-as-root', asset: 'the machine', attack: 'names that change while root restores' },
  { id: 'file-modes', asset: 'secrets', attack: 'files that other users of the machine can read' },
]
