/** The threats that are defended against. A test that shows a defence has a comment directly above it:
 *  `// threat: <id>`, or `# threat: <id>` at the head of an SMTP dialog; table.test.ts checks both directions. Threats
 *  that are not defended against are in the manual's page `security` with the reason. */
export interface Threat {
  /** Kebab-case and stable: renaming a test changes nothing. */
  id: string
  asset: string
  attack: string
}

/** Attacks by strangers and tenants. */
export const THREATS: Threat[] = [
  {
    id: 'relay-address-forms',
    asset: 'sending reputation',
    attack: 'relaying by odd forms of RCPT: percent, bang, source route, address literal, U-label',
  },
  { id: 'bad-api-keys', asset: 'sending reputation', attack: 'no key, or a malformed, revoked or invented one' },
  {
    id: 'from-of-another-domain',
    asset: 'sending reputation',
    attack: 'From of another domain: a subdomain, a look-alike, quoted, two addresses',
  },
  {
    id: 'foreign-resources',
    asset: 'every resource',
    attack: 'a key without the permission, or of another organization: in path, query and body',
  },
  {
    id: 'compatible-api-permissions',
    asset: 'every resource',
    attack:
      'another service’s API or the tools of agents as a detour: other keys, fewer permissions, another organization',
  },
  {
    id: 'mcp-from-web-pages',
    asset: 'every resource',
    attack: 'a web page calls the tools of agents: from another origin, by DNS rebinding, with the session of a user',
  },
  {
    id: 'instructions-in-mail',
    asset: 'every resource',
    attack: 'a mail contains instructions for an agent that reads it, hidden or disguised as text of this server',
  },
  {
    id: 'received-mail-links',
    asset: 'received mail',
    attack: 'a download link, which needs no key: for another part or message, after its time, or opened as a page',
  },
  {
    id: 'formulas-and-terminal-controls',
    asset: 'the operator',
    attack: 'an address or a server’s reply that a spreadsheet runs as a formula or a terminal as a control sequence',
  },
  {
    id: 'links-in-data-directory',
    asset: 'the machine',
    attack: 'symbolic links in the data directory, which the server’s user owns, while root backs it up or restores it',
  },
  {
    id: 'internal-addresses-by-dns-checks',
    asset: 'the operator’s network',
    attack: 'a DNS name that leads a machine check or a domain check to an internal address',
  },
  {
    id: 'smarthost-password-exposed',
    asset: 'the password of the smarthost',
    attack: 'setup or a check prints it, or other users of the machine can read it',
  },
  {
    id: 'plan-limits-bypassed',
    asset: 'sending reputation',
    attack: 'more than the plan allows: in parallel, by HEAD, by the other path, by SMTP',
  },
  {
    id: 'header-and-recipient-injection',
    asset: 'recipients',
    attack: 'CR, LF or NUL in a field, recipients that nobody asked for',
  },
  { id: 'smtp-smuggling', asset: 'integrity of messages', attack: 'SMTP smuggling, commands behind STARTTLS' },
  {
    id: 'forged-authors',
    asset: 'identity of authors',
    attack: 'forged, duplicate, grouped or encoded From; l=, weak keys, many signatures',
  },
  { id: 'forged-authentication-results', asset: 'identity of authors', attack: 'Authentication-Results in our name' },
  { id: 'spoofed-dns-answers', asset: 'identity of authors', attack: 'spoofed DNS answers' },
  { id: 'slow-clients-and-floods', asset: 'availability', attack: 'slow clients, floods, huge lines, deep JSON' },
  {
    id: 'slow-bodies',
    asset: 'availability',
    attack: 'thousands of request bodies that never end, from one key, organization or network',
  },
  {
    id: 'memory-exhaustion',
    asset: 'availability',
    attack: 'all memory at once: large requests, mails, deliveries and downloads, fast and slow',
  },
  {
    id: 'downloads-beside-webhooks',
    asset: 'availability',
    attack: 'attachment URLs whose answers keep the reader busy, beside webhooks of others',
  },
  {
    id: 'hostile-suppression-lists',
    asset: 'availability',
    attack: 'a suppression list that is all quotes and line ends, or nested without end',
  },
  { id: 'unreadable-mail', asset: 'availability', attack: 'mail that no parser can read' },
  { id: 'mail-loops', asset: 'availability', attack: 'mail loops' },
  {
    id: 'webhook-private-addresses',
    asset: 'internal network',
    attack: 'webhook URLs to private addresses: odd forms, transition ranges, rebinding, redirects',
  },
  {
    id: 'file-url-private-addresses',
    asset: 'internal network',
    attack: 'attachment URLs to private addresses: by a name, by mixed answers, by rebinding, by a redirect',
  },
  { id: 'mx-private-addresses', asset: 'internal network', attack: 'an MX at loopback or in a private network' },
  {
    id: 'files-by-path-or-url',
    asset: 'files of the host',
    attack: 'paths and URLs where content is expected, templates that include files',
  },
  { id: 'secrets-exposed', asset: 'secrets', attack: 'reading the disk, the log, answers or errors' },
  {
    id: 'endpoint-headers-moved',
    asset: 'headers of webhooks and inbound routes',
    attack:
      'a URL of another host by somebody who does not know the values, a redirect, an endpoint that sends them back',
  },
  {
    id: 'endpoint-headers-forged',
    asset: 'webhook receivers',
    attack: 'headers that replace the signature, frame the request differently or add a line',
  },
  {
    id: 'webhook-replay-and-tampering',
    asset: 'webhook receivers',
    attack: 'replay, tampering, an old secret after rotation',
  },
  { id: 'revoked-keys', asset: 'API keys', attack: 'use after revocation, also from the command line' },
  {
    id: 'key-beyond-its-mode',
    asset: 'live mail and its settings',
    attack: 'a sandbox key reads, changes or counts live records, by any operation, stream, export or replay',
  },
  {
    id: 'key-beyond-its-domain',
    asset: 'records of another domain',
    attack: 'a key without admin reaches messages, events, webhooks, routes, suppressions or keys of another domain',
  },
  {
    id: 'key-grants-beyond-its-rights',
    asset: 'API keys',
    attack: 'a key makes, widens, rotates or revokes a key that holds more: permissions, mode, domain, end, networks',
  },
  {
    id: 'stolen-key-used-elsewhere',
    asset: 'API keys',
    attack: 'a stolen key from an address outside its networks, by HTTP or SMTP',
  },
  {
    id: 'replies-to-others-shown',
    asset: 'recipients of other organizations',
    attack: 'explain shows an SMTP reply that another organization got',
  },
  {
    id: 'keys-leaked-by-client',
    asset: 'API keys',
    attack: 'the client gives a key away: by a redirect, an error, a log',
  },
  {
    id: 'forged-webhooks-at-receiver',
    asset: 'programs that receive webhooks',
    attack: 'forged, altered and old requests',
  },
  {
    id: 'tracking-link-abuse',
    asset: 'recipients’ clicks',
    attack: 'open redirects, forged opens, clicks and unsubscriptions, scanners that open every link',
  },
  { id: 'operator-mistakes', asset: 'configuration', attack: 'mistakes of the operator' },
  {
    id: 'event-stream-abuse',
    asset: 'events',
    attack: 'a stream that outlives its key, reads nothing, is opened many times, or names resources of others',
  },
  {
    id: 'idempotency-key-abuse',
    asset: 'idempotency keys',
    attack: 'keys of another organization, races, oversized keys',
  },
  { id: 'erased-data-read-back', asset: 'erased data', attack: 'reading the files after retention' },
  {
    id: 'stale-rights',
    asset: 'records of the organization',
    attack: 'a session that goes on after its user lost the role, was disabled or removed',
  },
  {
    id: 'privilege-escalation',
    asset: 'rights of other users',
    attack: 'a user or key raises a role, makes an operator or takes over an account of another organization',
  },
  {
    id: 'rights-by-detour',
    asset: 'rights of keys and roles',
    attack:
      'grants in an odd order, a kept key, a replay, or another way to an operation, that give more than the table of permissions',
  },
  {
    id: 'role-beyond-organization',
    asset: 'records of another organization',
    attack: 'a user selects an organization without having a role in it, or names its records by ID',
  },
  {
    id: 'cross-site-requests',
    asset: 'the operator’s session',
    attack: 'requests that another site makes the browser send',
  },
  {
    id: 'sign-in-guessing',
    asset: 'the operator’s session',
    attack: 'guessed links and passwords, links used twice, cookies that never expire',
  },
  {
    id: 'stolen-session',
    asset: 'the second factors of a user',
    attack: 'a change of two-step sign-in or passkeys with a stolen session alone',
  },
  {
    id: 'keys-in-a-copy',
    asset: 'the keys of certificates',
    attack: 'a copy of the data directory, or a backup, without the encryption key',
  },
  {
    id: 'accounts-listed',
    asset: 'the accounts of users',
    attack: 'an organization invites addresses to find out which of them have an account elsewhere',
  },
  {
    id: 'account-taken-first',
    asset: 'the operator’s session',
    attack:
      'a tenant makes an account at the address of somebody else, with a link that it was shown, and waits until that person becomes operator',
  },
  {
    id: 'mail-to-users-read',
    asset: 'the accounts of users',
    attack:
      'a member, key, route or webhook of the organization that owns the domain reads mail with a link that signs in',
  },
  {
    id: 'invitation-bomb',
    asset: 'strangers',
    attack: 'an owner who invites an address again and again, or writes an offer into the name of the organization',
  },
  {
    id: 'single-sign-on-bypass',
    asset: 'the operator’s session',
    attack: 'a password or a link of an invitation where the operator allows single sign-on only',
  },
  {
    id: 'single-sign-on-forgery',
    asset: 'the operator’s session',
    attack:
      'a callback that is repeated, invented or opened in the browser of somebody else, and ID tokens for another client, time or sign-in',
  },
  {
    id: 'single-sign-on-takeover',
    asset: 'the operator’s session',
    attack: 'an account at the provider with the address of another user that the provider has not verified',
  },
  {
    id: 'smuggled-ids-in-links',
    asset: 'the operator’s session',
    attack: 'a link into the dashboard whose id leads its calls to another path',
  },
  {
    id: 'active-content-in-mail',
    asset: 'the operator’s session',
    attack: 'scripts, forms, frames and remote content in a displayed mail',
  },
  {
    id: 'dedicated-address-of-another-organization',
    asset: 'sending reputation',
    attack:
      'another organization’s sending address or pool: by stream, by two assignments at once, after a change of plan',
  },
  {
    id: 'alert-secrets',
    asset: 'the operator’s chats and mail server',
    attack: 'read the URL, secret or password of an alert channel from the API, or use it without being the operator',
  },
  {
    id: 'alert-markup',
    asset: 'people who read alerts',
    attack: 'names and replies that mention everybody, or that become a link, in Slack, Discord or Teams',
  },
  {
    id: 'canary-forged',
    asset: 'the results of canary messages',
    attack: 'mail to their address, so that a message arrives that did not',
  },
  {
    id: 'canary-flood',
    asset: 'the queue, and the results of canary messages',
    attack: 'canary runs in a loop',
  },
  {
    id: 'hostile-imap-server',
    asset: 'memory, the main thread, and the results of other mailboxes',
    attack: 'an IMAP server of a canary mailbox that sends too much, too slowly, nonsense, or another certificate',
  },
  {
    id: 'hostile-object-storage',
    asset: 'memory, the operator’s network, and stored mail',
    attack:
      'object storage that answers without end, unpacks, lists keys of others, or redirects mail and backups to another host',
  },
  {
    id: 'hostile-certificate-authority',
    asset: 'the listeners, and the certificate of all nodes',
    attack:
      'an authority that takes hours, asks for proofs without end, or sends a chain that no listener can open with, which every restart would read again',
  },
  {
    id: 'erasures-without-end',
    asset: 'erasures of other organizations',
    attack: 'thousands of erasures of invented addresses, each of which reads all events',
  },
  { id: 'alert-flood', asset: 'the operator’s attention', attack: 'problems of many tenants that fill the channels' },
  {
    id: 'complaints-hold-warm-up',
    asset: 'the sending address',
    attack:
      'a recipient writes complaints that hold the warm-up of an address: many about one mail, in a provider’s name',
  },
  {
    id: 'tenant-moves-mail-to-relay',
    asset: 'the operator’s money and network',
    attack:
      'an organization’s own failing destinations send the mail of others through a relay, or its mail through any',
  },
  { id: 'operator-only-operations', asset: 'operator-only operations', attack: 'an API key, whatever its permissions' },
  { id: 'actions-without-audit', asset: 'accountability', attack: 'changes without an audit entry' },
  {
    id: 'hostile-backups',
    asset: 'the machine',
    attack: 'an invented backup: files outside the data directory, wrong bytes, a link, endless data',
  },
  {
    id: 'certificate-order-disturbed',
    asset: 'the certificate',
    attack: 'a domain whose DNS spoils the order for all; an authority that sends us elsewhere',
  },
  { id: 'redirect-to-another-site', asset: 'visitors', attack: 'port 80 redirects to another site' },
  {
    id: 'forged-release',
    asset: 'the program',
    attack:
      'a release, its checksums or its signature changed on the way: another key, namespace, hash, length or time; a cut signature',
  },
  {
    id: 'hostile-archive',
    asset: 'the files of the machine',
    attack: 'an archive with links, devices, absolute paths, two programs, or sizes beyond the disk',
  },
  {
    id: 'interrupted-upgrade',
    asset: 'accepted mail',
    attack: 'an upgrade is killed, or its program ends before it is ready, after it changed the database',
  },
]
