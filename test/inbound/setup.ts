import { createHash } from 'node:crypto'
import { createForwardLinks } from '../../src/mail/forward-link.ts'
import { packParsed, packRaw } from '../../src/mail/inbound-content.ts'
import { packMime } from '../../src/mail/mime-content.ts'
import { readPolicyReport } from '../../src/mail/policy-report.ts'
import { createReplyAddresses, type ReplyAddresses } from '../../src/mail/reply-address.ts'
import { createVerp } from '../../src/mail/verp.ts'
import type { Domain } from '../../src/model/domain.ts'
import type { Verdicts } from '../../src/model/inbound-message.ts'
import type { InboundRoute, RouteMatch } from '../../src/model/inbound-route.ts'
import { type Organization, type Plan, UNLIMITED_PLAN } from '../../src/model/organization.ts'
import type { QualityAlert } from '../../src/model/quality.ts'
import { recognizeAddress } from '../../src/receiving/feedback/address.ts'
import { readReport } from '../../src/receiving/feedback/content.ts'
import type { ReportMail } from '../../src/receiving/feedback/feedback.ts'
import type { InboundResult, MailHead, ReadingJob, Seal } from '../../src/receiving/inbound/inbound-result.ts'
import {
  createNetworkLimits,
  type NetworkLimits,
  type NetworkRates,
} from '../../src/receiving/inbound/network-limits.ts'
import type { Readers } from '../../src/receiving/inbound/readers.ts'
import type { RecipientTarget } from '../../src/receiving/inbound/recipient.ts'
import { createInboundHandler } from '../../src/receiving/inbound/smtp-handler.ts'
import type {
  EnvelopeAddress,
  IncomingMail,
  SmtpHandler,
  SmtpSession,
} from '../../src/receiving/smtp-server/session.ts'
import { createForwarding } from '../../src/sending/submission/forwarding.ts'
import { SendingRules } from '../../src/sending/submission/sending-rules.ts'
import type { Store } from '../../src/storage/store.ts'
import { createRecords, type Records, START } from '../storage/records.ts'
import { openMemoryStore } from '../support/migrated-store.ts'

export { START }

export const HOSTNAME = 'mail.postrider.test'
export const LOOP_TAG = 'k3yed-t4g'
export const PASSED: Verdicts = { spf: 'pass', dkim: 'pass', dmarc: 'pass', arc: 'none' }

/** The results of the reader threads; a test changes what it is about. */
export interface Findings {
  verdicts: Verdicts
  dmarcPolicy: InboundResult['dmarcPolicy']
  dmarcReason: string | null
  head: Partial<MailHead>
  parseError: string | null
}

/** The inbound handler over a real store in memory, with the domain `ours.test` of one organization. Authentication
 *  and parsing are stubs: they have separate tests. */
export interface InboundSetup {
  store: Store
  records: Records
  organization: Organization
  domain: Domain
  handler: SmtpHandler<RecipientTarget>
  findings: Findings
  jobs: ReadMail[]
  reports: ReportMail[]
  /** Every line of the mail log and every wake-up, in order. */
  reported: string[]
  replyAddresses: ReplyAddresses
  keyed: (deliveryId: string) => string
  addDomain(name: string, change?: Partial<Domain>): Promise<Domain>
  addRoute(match: RouteMatch, change?: Partial<InboundRoute>): Promise<InboundRoute>
  /** Calls the handler as the listener does; a refused recipient throws. */
  send(to: string[], raw?: string, change?: Partial<IncomingMail<RecipientTarget>>): Promise<string>
}

export const MAIL = [
  'From: Ann <ann@author.test>',
  'To: info@ours.test',
  'Subject: hello',
  'Message-ID: <1@author.test>',
  '',
  'hello',
  '',
].join('\r\n')

const NO_LIMITS: NetworkRates = {
  connectionsPerMinute: 1,
  mailsPerMinute: 1,
  unknownRecipientsPerHour: 1,
  isUnlimited: () => true,
}

export interface InboundSetupOptions {
  wrapStore?: (store: Store) => Store
  take?: (mail: ReportMail) => Promise<void>
  /** The limits of a network; unlimited by default. */
  networkLimits?: NetworkLimits
  plans?: (name: string) => Plan
  /** Confirmed targets; all by default. */
  confirmed?: readonly string[]
  /** Domains that an alert stops. */
  isStopped?: (domainId: string) => boolean
  /** Real threads in place of `findings`. */
  readers?: Pick<Readers, 'read' | 'report' | 'policyReport'>
}

export async function createInboundSetup(options: InboundSetupOptions = {}): Promise<InboundSetup> {
  const store = await openMemoryStore({ ...(options.plans && { plans: options.plans }) })
  const seen = options.wrapStore?.(store) ?? store
  const records = createRecords()
  const organization = records.organization()
  await store.organizations.create(organization)

  let minted = 0
  const mintId = (prefix: string) => `${prefix}_${String(++minted).padStart(26, '0')}`
  const replyAddresses = createReplyAddresses(new Uint8Array(32).fill(8))
  const verp = createVerp(new Uint8Array(32).fill(7))
  const findings: Findings = {
    verdicts: PASSED,
    dmarcPolicy: 'none',
    dmarcReason: null,
    head: {},
    parseError: null,
  }
  const jobs: ReadMail[] = []
  const reports: ReportMail[] = []
  const reported: string[] = []
  const tell = (name: string) => (fact?: object) => {
    reported.push(fact === undefined ? name : `${name} ${JSON.stringify(fact)}`)
  }

  const handler = createInboundHandler({
    forwardLinks: createForwardLinks(new Uint8Array(32)),
    networkLimits: options.networkLimits ?? createNetworkLimits(NO_LIMITS, () => 0),
    store: seen,
    feedback: {
      recognize: (local) => recognizeAddress(local, verp),
      take: async (mail) => {
        await options.take?.(mail)
        reports.push(mail)
      },
    },
    readers: {
      read: async (asked) => {
        const job = { ...asked, raw: asked.raw as Uint8Array<ArrayBuffer> }
        jobs.push(job)
        return options.readers === undefined ? readingOf(job, findings) : await options.readers.read(job)
      },
      report: async ({ raw, returnPath }) => {
        if (options.readers !== undefined) return await options.readers.report({ raw, returnPath })
        const bytes = raw as Uint8Array
        return { content: readReport(bytes, returnPath), digest: createHash('sha256').update(bytes).digest() }
      },
      policyReport: async (mail) => {
        if (options.readers !== undefined) return await options.readers.policyReport(mail)
        const { dmarc } = findings.verdicts
        const reporter = dmarc === 'pass' ? 'google.com' : null
        return { reporter, isUndecided: dmarc === 'temperror', content: readPolicyReport(mail.raw as Uint8Array) }
      },
    },
    mintId,
    mailLog: {
      received: tell('received'),
      accepted: tell('accepted'),
      suppressed: tell('suppressed'),
      policyReport: tell('policy report'),
    },
    forwarding: forwardingFor(store, options),
    clock: { now: () => START },
    replyOf: (local, organizationId) => replyAddresses.decode(local, organizationId),
    loopTag: LOOP_TAG,
    hostname: HOSTNAME,
    requireVerified: true,
    notify: (topic) => tell(topic === 'deliveries' ? 'wake outbound' : 'wake inbound')(),
  })

  const addDomain = async (name: string, change: Partial<Domain> = {}) => {
    const dkim = [
      records.dkimKey({ algorithm: 'ed25519-sha256', state: 'active' }),
      records.dkimKey({ state: 'pending' }),
      records.dkimKey({ selector: `sealing-${name.split('.')[0]}`, state: 'active' }),
    ]
    const given = {
      organizationId: organization.id,
      name,
      returnPathHost: `bounces.${name}`,
      dkim,
      status: 'verified' as const,
      ...change,
    }
    const domain = records.domain(given)
    await store.domains.create(domain, -1)
    return domain
  }
  let routes = 0
  return {
    store,
    records,
    organization,
    domain: await addDomain('ours.test'),
    handler,
    findings,
    jobs,
    reports,
    reported,
    replyAddresses,
    keyed: (deliveryId) => verp.encode(deliveryId, 'bounce'),
    addDomain,
    addRoute: async (match, change = {}) => {
      const route: InboundRoute = {
        id: `rte_${String(++routes).padStart(26, '0')}`,
        organizationId: organization.id,
        name: `route ${routes}`,
        match,
        action: { type: 'store', config: {} },
        authentication: 'none',
        enabled: true,
        priority: 0,
        createdAt: START + routes,
        ...change,
      }
      await store.inboundRoutes.create(route, 'whsec_c2VjcmV0')
      return route
    },
    send: async (to, raw = MAIL, change = {}) => {
      const recipients: IncomingMail<RecipientTarget>['recipients'] = []
      for (const each of to) {
        const already = recipients.map(({ as }) => as)
        recipients.push({ spoken: spoken(each), as: await handler.onRecipient(SESSION, spoken(each), already) })
      }
      return await handler.onMail({ ...mailOf(raw), recipients, ...change })
    },
  }
}

function forwardingFor(store: Store, { confirmed, isStopped }: InboundSetupOptions) {
  const firingAlerts = (id: string) => (isStopped?.(id) ? [{ id: 'alr_x' } as QualityAlert] : [])
  const alerted = { ...store, snapshot: { ...store.snapshot, firingAlerts } }
  const ruleSettings = { requireVerifiedDomain: true, stopSending: true, plans: () => UNLIMITED_PLAN }
  return createForwarding({
    store,
    settings: { confirmTargets: confirmed !== undefined, hostname: 'mail.postrider.test', requireVerifiedDomain: true },
    rules: new SendingRules(alerted, ruleSettings),
    submission: { submit: () => Promise.reject(new Error('nothing is submitted here')) },
    links: () => createForwardLinks(new Uint8Array(32)),
    publicUrl: () => 'https://mail.postrider.test',
  })
}

type ReadMail = Omit<ReadingJob, 'jobId' | 'seals'> & { seals: Seal[] }

export const SESSION: SmtpSession = {
  id: 'session',
  remoteAddress: '192.0.2.7',
  helo: 'mx.author.test',
  tls: 'TLSv1.3 TLS_AES_256_GCM_SHA384',
  protocol: 'ESMTPS',
}

/** As the listener parses an address. */
export function spoken(address: string): EnvelopeAddress {
  const at = address.lastIndexOf('@')
  return { address, local: address.slice(0, at), domain: address.slice(at + 1) }
}

function mailOf(raw: string): IncomingMail<RecipientTarget> {
  const bytes = new Uint8Array(Buffer.from(raw))
  return {
    session: SESSION,
    returnPath: spoken('ann@author.test'),
    recipients: [],
    sizeBytes: bytes.length,
    receivedAt: START,
    read: async () => bytes,
    open: async () => bytes,
  }
}

function readingOf(job: ReadMail, { head, ...findings }: Findings): InboundResult {
  const text = Buffer.from(job.raw).toString()
  const field = (name: string) => new RegExp(`^${name}: (.*)\r$`, 'm').exec(text)?.[1] ?? ''
  const fromHeader = field('From')
  return {
    ...findings,
    head: {
      from: /<(.*)>/.exec(fromHeader)?.[1] ?? fromHeader,
      fromHeader,
      subject: field('Subject'),
      messageId: field('Message-ID'),
      hops: 0,
      answers: [field('In-Reply-To'), field('References')].filter((each) => each !== ''),
      autoSubmitted: field('Auto-Submitted') !== '',
      loop: null,
      ...head,
    },
    raw: packRaw(job.raw),
    parsed: packParsed({ textBody: 'hello', htmlBody: '', headers: {}, attachments: [] }),
    attachments: { first: [], count: 0 },
    ownLinks: { tokens: [], forwards: [] },
    forwards: job.seals.map(({ selector }) =>
      packMime(Buffer.from(`X-Sealed-By: ${selector}\r\n${job.forwardHeader}\r\n${text}`)),
    ),
  }
}
