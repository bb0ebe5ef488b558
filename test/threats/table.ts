/** The threats that are kept, each with the tests that show it: a file and a piece of the test's name, which
 *  table.test.ts finds there. Those that are not kept are in the README with the reason. */
export interface Threat {
  asset: string
  attack: string
  shown: [file: string, name: string][]
}

export const THREATS: Threat[] = [
  {
    asset: 'sending reputation',
    attack: 'relaying by odd forms of RCPT: percent, bang, source route, literal, U-label',
    shown: [
      ['test/inbound/dialogs/relay-forms.smtp', 'source routes are refused'],
      ['test/inbound/recipient.test.ts', '%s is not ours to carry'],
    ],
  },
  {
    asset: 'sending reputation',
    attack: 'no key, a malformed, revoked or made-up one',
    shown: [
      ['test/api/server.test.ts', 'every kind of bad key gets the same words'],
      ['test/api/server.test.ts', 'without a key is 401, whatever else is wrong'],
    ],
  },
  {
    asset: 'sending reputation',
    attack: 'From of another domain, a sub-domain, a look-alike, quoted, two addresses',
    shown: [['test/api/messages-from.test.ts', '%s is refused']],
  },
  {
    asset: 'every resource',
    attack: 'a key without the permission, a key of another organization: in path, query and body',
    shown: [
      ['test/api/permissions.test.ts', 'lets in the keys that hold its permission or admin, and no other'],
      ['test/api/permissions.test.ts', 'is 403 for a resource of another organization'],
      ['test/threats/foreign-ids.test.ts', 'no parameter of a query shows anything of another organization'],
      ['test/threats/foreign-ids.test.ts', '%s with what belongs to another organization is 403'],
    ],
  },
  {
    asset: 'every resource',
    attack: 'the way by another service’s API: other keys, fewer permissions, another organization',
    shown: [
      ['test/compat/resend.test.ts', 'with a sending key sends and does no more'],
      ['test/compat/resend.test.ts', 'finds nothing of another organization'],
      ['test/fuzz/compat.test.ts', 'any request gets an answer of that service'],
    ],
  },
  {
    asset: 'the operator',
    attack: 'an address or a server’s words that a spreadsheet takes for a formula, or that act at the terminal',
    shown: [
      ['test/fuzz/lists.test.ts', 'what we wrote comes back as it was, and begins no formula'],
      ['src/suppressions/read-list.test.ts', 'evidence is one short line'],
      ['src/cli/findings.test.ts', 'what a server or a name in DNS says cannot write on our terminal'],
      ['test/cli/listen-parts.test.ts', 'what no server of ours says reaches neither the terminal nor the post'],
      ['src/cli/listen/event-parser.test.ts', 'and a line or an event that never ends'],
    ],
  },
  {
    asset: 'the machine',
    attack: 'links in the data directory, which is the server’s, where root backs it up or restores it',
    shown: [
      ['src/health/backup.test.ts', 'what lies in the way of the note is removed, never written to'],
      ['src/cli/backup/swap.test.ts', 'root gives the owner what is his, and never what a link of his leads to'],
    ],
  },
  {
    asset: 'the operator’s network',
    attack: 'a name in DNS that leads the checks of the machine, or a look at a domain’s records, to an inner address',
    shown: [
      ['test/health/port-25.test.ts', 'addresses that may not be connected to are not called'],
      [
        'src/platform/authoritative.test.ts',
        'asks the other one where no authority is known, may be asked, or answers',
      ],
    ],
  },
  {
    asset: 'the password of the smarthost',
    attack: 'it shows in what a set-up or a check prints, or to other users of the machine',
    shown: [
      ['test/cli/init.test.ts', 'a smarthost stands in a file of its own that nobody else can read'],
      ['test/cli/init.test.ts', 'a smarthost that is none, and no domain where nobody can be asked'],
      ['test/outbound/greet.test.ts', 'tells of a login that is refused, without the password'],
    ],
  },
  {
    asset: 'sending reputation',
    attack: 'more than the plan allows: in parallel, by HEAD, by the other path, by SMTP',
    shown: [
      ['test/api/rate-limit.test.ts', 'parallel requests, refused ones and unknown paths all count'],
      ['test/threats/limits.test.ts', 'the requests of a minute are the same by HTTP and by SMTP, however parallel'],
      ['test/threats/limits.test.ts', 'the messages of a month are the same by HTTP and by SMTP, however parallel'],
    ],
  },
  {
    asset: 'recipients',
    attack: 'CR, LF or NUL in a field, recipients that were not asked for',
    shown: [
      ['test/api/messages-validation.test.ts', 'CR, LF and NUL reach no header'],
      ['src/mail/compose.test.ts', 'keeps line ends out of every field that comes from an attachment'],
      ['test/outbound/transport.test.ts', 'a line end in an address never reaches the wire'],
    ],
  },
  {
    asset: 'integrity of messages',
    attack: 'SMTP smuggling, commands behind STARTTLS',
    shown: [
      ['test/smtp/smuggling.test.ts', 'no fake end of a mail lets another one in'],
      ['test/smtp/smuggling.test.ts', 'what a client says in clear behind STARTTLS is never answered under TLS'],
    ],
  },
  {
    asset: 'identity of authors',
    attack: 'forged, double, grouped or encoded From; l=, weak keys, many signatures',
    shown: [
      ['test/inbound/authenticate.test.ts', 'forged authors never pass and never are none'],
      ['test/inbound/authenticate.test.ts', 'a signature over a part of the body passes for nobody'],
      ['test/inbound/authenticate.test.ts', 'a key of 512 bits does not count'],
      ['test/inbound/authenticate.test.ts', 'of 25 signatures only 20 are looked up'],
    ],
  },
  {
    asset: 'identity of authors',
    attack: 'Authentication-Results in our name',
    shown: [
      ['test/inbound/readers.test.ts', 'loses what it says of itself in our name'],
      ['src/mail/authentication-results.test.ts', 'those far down in a very large header go too'],
    ],
  },
  {
    asset: 'identity of authors',
    attack: 'spoofed DNS answers',
    shown: [['src/platform/resolver.test.ts', 'forged answers before the true one change nothing']],
  },
  {
    asset: 'availability',
    attack: 'slow clients, floods, huge lines, deep JSON',
    shown: [
      ['test/smtp/limits.test.ts', 'a mail that drips or stops is cut at the idle time, '],
      ['test/smtp/limits.test.ts', 'one connection too many from an address hears 421'],
      ['test/api/events-stream.test.ts', 'keys of an organization leave room for others, however many it makes'],
      ['test/api/server.test.ts', 'that is megabytes of brackets or of nothings is 400 before it is parsed'],
      ['test/api/server.test.ts', 'over the limit is 413, announced or not'],
    ],
  },
  {
    asset: 'availability',
    attack: 'all memory at once: large requests, mails, deliveries and downloads, quick ones and slow ones',
    shown: [
      ['src/platform/memory.test.ts', 'what is large has its place by what it costs'],
      ['src/platform/memory.test.ts', 'nearly all is resident: nothing new is begun until that is over'],
      ['src/api/large-bodies.test.ts', 'slow senders leave it to those whose bodies are in hand'],
      ['src/api/large-answers.test.ts', 'a client that goes away, one that takes over five minutes'],
      ['test/api/stored-mail.test.ts', 'what is made of large stored mail has its place until the client has it'],
      ['test/smtp/spool.test.ts', 'a mail that finds no memory for five minutes is told to come again'],
      ['test/smtp/limits.test.ts', 'short of memory no mail is begun and no connection taken'],
      ['test/api/server.test.ts', 'while memory is short is 503 with Retry-After'],
    ],
  },
  {
    asset: 'availability',
    attack: 'a list of suppressions that is all quotes and line ends, or nested without end',
    shown: [
      [
        'src/suppressions/read-list.test.ts',
        'a quote before nothing but line ends costs no more than what can be kept',
      ],
      ['src/suppressions/read-list.test.ts', 'an object that is nested without end does not stop the list'],
    ],
  },
  {
    asset: 'availability',
    attack: 'mail that no parser can read',
    shown: [
      ['test/inbound/receive.test.ts', 'that cannot be read is kept all the same, and says why'],
      ['test/inbound/readers.test.ts', 'a mail that keeps its thread too long ends it and comes back unread'],
    ],
  },
  { asset: 'availability', attack: 'mail loops', shown: [['test/inbound/receive.test.ts', 'a mail loop']] },
  {
    asset: 'internal network',
    attack: 'webhook URLs to private addresses: odd forms, transition ranges, rebinding, redirects',
    shown: [
      ['src/platform/webhook-url.test.ts', '%j is refused: %s'],
      ['src/platform/ip.test.ts', 'without allowed networks it lets only public addresses through'],
      ['src/platform/fetch-public.test.ts', 'a name that turns private between two POSTs is blocked at the second'],
      ['src/platform/fetch-public.test.ts', 'a redirect is an answer like any other and is not followed'],
    ],
  },
  {
    asset: 'internal network',
    attack: 'an MX at loopback or in a private network',
    shown: [['test/outbound/mx.test.ts', 'private and loopback addresses are never given out, wherever they hide']],
  },
  {
    asset: 'files of the host',
    attack: 'paths and URLs where content is expected, templates that include',
    shown: [
      ['test/api/messages-validation.test.ts', 'a body that is not valid is 400 and names the field'],
      ['test/api/templates.test.ts', 'cannot load files'],
    ],
  },
  {
    asset: 'secrets',
    attack: 'reading the disk, the log, answers or errors',
    shown: [
      ['test/threats/secrets.test.ts', 'no secret stands in a log, a later answer, an error or a file'],
      ['test/storage/seal.test.ts', 'no secret can be read from the files, and the store reads all of them'],
      ['test/storage/seal.test.ts', 'a sealed secret is worth nothing in the place of another'],
      ['test/storage/migrations.test.ts', 'only the owner reads the files'],
      ['test/api/idempotency.test.ts', 'an answer with a secret is not readable in the store'],
    ],
  },
  {
    asset: 'webhook receivers',
    attack: 'replay, tampering, an old secret after rotation',
    shown: [
      ['test/webhooks/signature.test.ts', 'what arrives passes both verifiers, and fails them with another'],
      ['test/webhooks/signature.test.ts', 'while a secret is rotated both are good, afterwards the new one alone'],
    ],
  },
  {
    asset: 'API keys',
    attack: 'use after revocation, also from the command line',
    shown: [
      ['test/threats/secrets.test.ts', 'a key that was deleted opens nothing any more, at once and by every door'],
      ['test/storage/foreign.test.ts', 'a key that another process revoked opens nothing any more'],
    ],
  },
  {
    asset: 'API keys',
    attack: 'carried away from the client: by a redirect, an error, a log',
    shown: [
      ['test/client/retries.test.ts', 'the key went nowhere else'],
      ['test/client/retries.test.ts', 'the key stands in no error and in nothing that is printed'],
    ],
  },
  {
    asset: 'programs that receive webhooks',
    attack: 'forged, altered and old requests',
    shown: [
      ['test/client/unwrap.test.ts', 'a signature is stale beyond 300 seconds, in both directions'],
      ['test/client/unwrap.test.ts', 'whatever comes, it is an event or a WebhookVerificationError'],
      ['test/client/examples.test.ts', 'takes what is genuine, and answers 401 to all else'],
    ],
  },
  {
    asset: 'recipients’ clicks',
    attack: 'open redirects, forged opens, clicks and unsubscriptions, scanners that look at every link',
    shown: [
      ['src/mail/tracking-link.test.ts', 'of 30,000 altered links none is taken for ours'],
      ['test/tracking/pages.test.ts', 'a link that was not made here leads nowhere and says nothing'],
      ['test/tracking/pages.test.ts', 'takes a button: a GET, however often, shows a page and does nothing'],
    ],
  },
  {
    asset: 'configuration',
    attack: 'mistakes of the operator',
    shown: [
      ['src/config.test.ts', 'a config that is missing, a folder, or not UTF-8 is a fault'],
      ['test/storage/migrations.test.ts', 'a newer schema is refused and not one byte of it is changed'],
    ],
  },
  {
    asset: 'events',
    attack: 'a stream that outlives its key, reads nothing, is opened many times, or names what others own',
    shown: [
      ['test/api/events-stream.test.ts', 'ends at the first after its key was revoked or expired'],
      ['test/api/events-stream.test.ts', 'one that does not read costs no memory and holds up nobody'],
      ['test/api/events-stream.test.ts', 'a key has so many at once, and all together'],
      ['test/api/events-stream.test.ts', 'nothing of another organization is told, and what it owns cannot be named'],
      ['test/cli/listen.test.ts', 'what it cannot do is said in one line'],
    ],
  },
  {
    asset: 'idempotency keys',
    attack: 'those of another organization, races, keys beyond measure',
    shown: [
      ['test/api/idempotency.test.ts', 'belongs to the organization: another one has its own'],
      ['test/api/idempotency.test.ts', 'a hundred with one key do the work once and get one answer'],
      ['test/api/idempotency.test.ts', 'of a bad form (%p) is 400'],
    ],
  },
  {
    asset: 'erased data',
    attack: 'reading the files after retention',
    shown: [['test/threats/erased.test.ts', 'what retention removed is in no file any more, while the server runs']],
  },
  {
    asset: 'the operator’s session',
    attack: 'requests that another site has the browser make',
    shown: [
      ['test/api/session.test.ts', 'is worth nothing in a request that another site can make'],
      ['test/api/session.test.ts', 'is asked for by our own page alone'],
    ],
  },
  {
    asset: 'the operator’s session',
    attack: 'guessed links and passwords, links used twice, cookies that live for ever',
    shown: [
      ['test/api/session.test.ts', 'that was used, has expired or never was gets the same words'],
      ['test/api/session.test.ts', 'is asked for ten times a minute by an address, whatever others do'],
      ['src/api/sign-in-limit.test.ts', 'passwords are tried thirty times a minute by all addresses together'],
      ['test/api/session.test.ts', 'ends after seven days without use, and after thirty whatever its use'],
    ],
  },
  {
    asset: 'the operator’s session',
    attack: 'a link into the dashboard whose id leads its calls to another path',
    shown: [['test/dashboard/shell.test.ts', 'asks for nothing that a link smuggles into an id']],
  },
  {
    asset: 'the operator’s session',
    attack: 'scripts, forms, frames and remote content in a mail that is shown',
    shown: [
      ['test/dashboard/messages.test.ts', 'are shown without anything of theirs running, loading or leading away'],
      ['test/dashboard/pages.test.ts', 'the frame that mail is shown in runs no script'],
      ['test/dashboard/hostile-mail.test.ts', 'what becomes something else when it is read again runs nothing'],
      ['test/dashboard/hostile-mail.test.ts', 'no way of clicking leads away'],
      ['test/dashboard/hostile-mail.test.ts', 'is shown however it is made'],
      ['test/dashboard/pages.test.ts', 'is the one page, with a policy that lets nothing in'],
    ],
  },
  {
    asset: 'what is the operator’s alone',
    attack: 'an API key, whatever its permissions',
    shown: [['test/api/permissions.test.ts', 'lets in the keys that hold its permission or admin, and no other']],
  },
  {
    asset: 'accountability',
    attack: 'managing without a trace',
    shown: [
      ['test/api/openapi.test.ts', 'that changes something leaves an entry in the audit log'],
      ['test/storage/contract-audit-log.ts', 'what cannot be told of does not happen'],
    ],
  },
  {
    asset: 'the machine',
    attack:
      'a backup that was made up: files outside of the data directory, other bytes than told, a link, endless data',
    shown: [
      ['test/cli/backup.test.ts', 'refuses what is damaged, in whatever way, and changes nothing'],
      ['src/platform/tar.test.ts', 'a link is no file of ours'],
    ],
  },
  {
    asset: 'the certificate',
    attack: 'a domain of somebody whose DNS spoils the order for all; an authority that sends us elsewhere',
    shown: [
      [
        'test/certificates/renewal.test.ts',
        'of a domain that the authority refuses do not keep the others from theirs',
      ],
      ['test/certificates/order.test.ts', 'an authority that sends us elsewhere is not followed'],
      ['test/certificates/reach.test.ts', 'private addresses of others are not even asked'],
    ],
  },
  {
    asset: 'visitors',
    attack: 'being sent to another site by port 80',
    shown: [['test/certificates/plain-pages.test.ts', '%s is sent to our own address by HTTPS']],
  },
]
