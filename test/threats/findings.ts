import type { Threat } from './table.ts'

/** What our libraries and the world do to a mail server when nobody minds, each with the tests that show that we do. */
export const FINDINGS: Threat[] = [
  {
    asset: 'verdicts',
    attack: 'TXT records of several strings, DNS that is silent, authentication without end',
    shown: [
      ['src/platform/resolver.test.ts', 'a TXT record longer than 255 bytes stays one record'],
      ['src/platform/resolver.test.ts', 'a name without such a record and a name that does not exist are told apart'],
      ['src/platform/resolver.test.ts', 'silence is temporary after all tries'],
      ['test/inbound/readers.test.ts', 'DNS that never answers is temperror within the time that was given'],
      ['test/inbound/authenticate.test.ts', 'when the time is over, what is not known yet is temperror'],
    ],
  },
  {
    asset: 'the process',
    attack: 'mail that takes a parser minutes or gigabytes, or that it throws at',
    shown: [
      ['test/inbound/readers.test.ts', 'a mail that keeps its thread too long ends it and comes back unread'],
      ['test/inbound/readers.test.ts', 'a mail whose thread dies twice comes back unread, raw and headers kept'],
      ['src/mail/parse.test.ts', 'utf-7 and its like are decoded in a small mail and left in a large one'],
      ['src/mail/parse.test.ts', 'of 2,100 parts what can be read is told, with the reason'],
      ['src/mail/parse.test.ts', 'deeply nested html is html'],
      ['src/mail/parse.test.ts', 'a reading that takes too long ends with what was read until then'],
      ['test/inbound/receive.test.ts', 'that cannot be read is kept all the same, and says why'],
    ],
  },
  {
    asset: 'the process',
    attack: 'a thousand signatures, headers and lines beyond measure before a hash',
    shown: [
      ['test/inbound/authenticate.test.ts', 'of 25 signatures only 20 are looked up'],
      ['test/inbound/authenticate.test.ts', 'a header beyond measure costs no time'],
      ['test/inbound/authenticate.test.ts', 'long blanks in signatures and seals cost no time'],
      ['test/inbound/dialogs/long-line.smtp', 'xxxxxxxx'],
    ],
  },
  {
    asset: 'verdicts',
    attack: 'two From fields, several authors, a group',
    shown: [['test/inbound/authenticate.test.ts', 'forged authors never pass and never are none']],
  },
  {
    asset: 'the listener',
    attack: 'no limits: recipients, connections, drips, TLS 1.0, resets without a handler, odd parameters',
    shown: [
      ['test/inbound/dialogs/recipients.smtp', 'HELO'],
      ['test/inbound/dialogs/mail-parameters.smtp', 'HELO'],
      ['test/inbound/dialogs/bare-line-ends.smtp', 'HELO'],
      ['test/smtp/limits.test.ts', 'one connection too many from an address hears 421'],
      ['test/smtp/limits.test.ts', 'a mail that drips or stops is cut at the idle time, '],
      ['test/smtp/unlucky.test.ts', 'TLS 1.1 is not spoken'],
      ['test/smtp/unlucky.test.ts', 'resets at once, port scans and garbage instead of TLS end nothing'],
    ],
  },
  {
    asset: 'recipients',
    attack: 'one address string read as another or as several; files and URLs read into a mail; NUL in a body',
    shown: [
      ['src/mail/address.test.ts', 'never throws, and what is read is read the same again from what is written'],
      ['src/mail/address.test.ts', 'may be 254 octets long and no more'],
      ['src/mail/address.test.ts', 'a domain becomes its lower-case A-label'],
      ['test/outbound/transport.test.ts', 'a line end in an address never reaches the wire'],
      ['test/api/messages-validation.test.ts', 'CR, LF and NUL reach no header'],
    ],
  },
  {
    asset: 'the API',
    attack: 'empty bodies, deep JSON, and what is no request at all',
    shown: [
      ['test/api/server.test.ts', "'is nested 20,000 deep'"],
      ['test/api/server.test.ts', "'is empty'"],
      ['test/api/server.test.ts', 'what is no request (%s) is %s without a word, and nothing behind it is served'],
      ['test/api/server.test.ts', 'a body over the limit gets our JSON, also when it is twice the limit or chunked'],
      ['test/api/messages-batch.test.ts', 'templates of a batch are paid from one purse'],
    ],
  },
]

/** Peers, DNS, clocks and endpoints at their worst. */
export const FAULTS: Threat[] = [
  {
    asset: 'delivery',
    attack: 'servers that hang or drip at any stage, stop reading, or take for ever in small steps',
    shown: [
      ['test/outbound/transport.test.ts', 'a server that falls silent is left, wherever it does'],
      ['test/outbound/transport.test.ts', 'a server that drips a reply without end is left, wherever it does'],
      ['test/outbound/transport.test.ts', 'the whole talk is bounded, however patient each single step is'],
      ['test/outbound/transport.test.ts', 'a server that stops reading within a big mail has not taken it'],
      ['test/outbound/attempt.test.ts', 'servers that never speak cannot hold an attempt beyond its time'],
    ],
  },
  {
    asset: 'delivery',
    attack: 'resets at any stage and after the final dot, 421 anywhere, 4yz and 5yz to each command',
    shown: [
      ['test/outbound/transport.test.ts', 'a server that resets the connection at '],
      ['test/outbound/transport.test.ts', 'after the final dot leaves it open whether the mail was taken'],
      ['test/outbound/transport.test.ts', 'and the end of the connection is that answer, not a lost connection'],
      ['test/outbound/transport.test.ts', 'is the answer`'],
      [
        'test/flow/deferred.test.ts',
        'lost after the final dot: an unknown outcome, tried again with the same Message-ID',
      ],
    ],
  },
  {
    asset: 'delivery',
    attack: 'broken TLS, STARTTLS that hangs, replies of 100 KB, other protocols',
    shown: [
      ['test/outbound/tls.test.ts', 'where STARTTLS is offered and the server '],
      ['test/outbound/tls.test.ts', "'says nothing'"],
      ['test/outbound/transport.test.ts', 'is no SMTP: the connection is closed and the mail deferred'],
    ],
  },
  {
    asset: 'other destinations',
    attack: 'a hundred domains that hang',
    shown: [
      ['test/outbound/loop.test.ts', 'goes on with other destinations while one hangs with a full backlog'],
      ['test/outbound/loop.test.ts', 'starts mail to domains that take it at once while a hundred hang'],
    ],
  },
  {
    asset: 'names',
    attack: 'lying, lame, looping, truncated and silent DNS',
    shown: [
      ['src/platform/resolver.test.ts', 'forged answers before the true one change nothing'],
      ['src/platform/resolver.test.ts', 'answers under a wrong id alone are silence'],
      ['src/platform/resolver.test.ts', 'records of other names in an answer are not believed'],
      ['src/platform/resolver.test.ts', 'a loop and an endless chain are trouble, not forever'],
      ['src/platform/resolver.test.ts', 'a truncated answer is fetched over TCP'],
      ['src/platform/resolver.test.ts', 'a closed port is temporary'],
      ['src/platform/resolver.test.ts', '%s is temporary, asked once per server'],
    ],
  },
  {
    asset: 'names',
    attack: 'MX records that are null, many, private, aliases, or not to be had',
    shown: [
      ['test/outbound/mx.test.ts', 'of thirteen MX hosts the first ten are kept'],
      ['test/outbound/mx.test.ts', 'a null MX bounces hard with 5.1.10'],
      ['test/outbound/mx.test.ts', 'a domain that does not exist bounces hard with 5.1.2'],
      ['test/outbound/mx.test.ts', 'a DNS server that fails, refuses or is silent defers, never bounces'],
      ['test/outbound/mx.test.ts', 'private and loopback addresses are never given out, wherever they hide'],
    ],
  },
  {
    asset: 'time',
    attack: 'a clock that is set two hours or ten years forward or back, or stutters',
    shown: [
      ['test/flow/clock.test.ts', 'a deferred mail is neither tried early nor late nor given up'],
      ['test/flow/clock.test.ts', 'an endpoint that failed hears again after its wait'],
      ['test/flow/clock.test.ts', 'nothing that is under way is begun a second time'],
      ['test/flow/clock.test.ts', 'set back, a scheduled mail keeps its date'],
      ['test/flow/clock.test.ts', 'set back ten years while the house was closed'],
      ['test/flow/clock.test.ts', 'the grace of a rotated key ends by the clock on the wall'],
      ['test/storage/contract-claims.ts', 'when the clock was set, waits and leases move along'],
    ],
  },
  {
    asset: 'webhooks',
    attack: 'endpoints that fail, hang, drip, redirect, reset, bomb, or have no good TLS',
    shown: [
      ['test/webhooks/loop.test.ts', 'five attempts at the times of the ladder, the same bytes each time, then failed'],
      ['src/platform/fetch-public.test.ts', 'a redirect is an answer like any other and is not followed'],
      ['src/platform/fetch-public.test.ts', 'a body that says gzip is neither unpacked nor shown'],
      ['src/platform/fetch-public.test.ts', 'an endless body is read for 4 KiB and then left'],
      ['src/platform/fetch-public.test.ts', 'when the answer drips past the end of the time'],
      ['src/platform/fetch-public.test.ts', 'when nobody we trust signed the certificate'],
      ['src/platform/fetch-public.test.ts', 'when the peer speaks no TLS, hangs up'],
    ],
  },
  {
    asset: 'webhooks',
    attack: '410, 429 with Retry-After, endpoints that flap, and slow ones beside healthy ones',
    shown: [
      ['test/webhooks/loop.test.ts', '410 pauses the webhook and says why; nothing is lost'],
      ['src/webhooks/attempt.test.ts', 'a Retry-After counts with 429 and 503 only'],
      ['test/webhooks/loop.test.ts', 'every event arrives at an endpoint that fails every other time'],
      ['test/webhooks/loop.test.ts', 'endpoints that hang delay no other webhook, even when they are new and many'],
    ],
  },
]
