import type { MintId } from '../../src/os/ids.ts'
import type { Store } from '../../src/storage/store.ts'
import { inboundMessage, storedMail } from '../../test/support/inbound.ts'
import { DOMAIN, SENDING_DOMAINS } from './mails.ts'
import type { Northwind } from './organization.ts'

const DAY_MS = 86_400_000
const SUBJECTS = [
  'Re: Your order is confirmed',
  'Frage zu meiner Rechnung 📃',
  'سؤال عن الطلب رقم 10482',
  '返品について',
  'Where is my parcel?',
]

/** What comes in once a day: mail of customers, and DMARC reports of other servers. */
export class Incoming {
  readonly #store: Store
  readonly #northwind: Northwind
  readonly #mintId: MintId

  constructor(store: Store, northwind: Northwind, mintId: MintId) {
    this.#store = store
    this.#northwind = northwind
    this.#mintId = mintId
  }

  async receive(day: number, receivedAt: number): Promise<void> {
    const { organizationId, domains, routes } = this.#northwind
    for (const [at, route] of routes.entries()) {
      const message = inboundMessage({
        ...{
          id: this.#mintId('inb'),
          organizationId,
          domainId: domains.get(DOMAIN) ?? '',
          routeId: route.id,
          receivedAt,
        },
        ...{ to: [route.address], action: route.action, from: `reader${day}@gmail.com` },
        subject: SUBJECTS[(day + at) % SUBJECTS.length] ?? '',
      })
      const deliveryId = route.action === 'webhook' ? this.#mintId('whd') : null
      await this.#store.inbound.accept({ ...storedMail(), taken: [{ message, deliveryId, forward: null }] })
    }
    for (const name of SENDING_DOMAINS) await this.#report(domains.get(name) ?? '', day, receivedAt)
  }

  async #report(domainId: string, day: number, receivedAt: number): Promise<void> {
    const beginsAt = Math.floor(receivedAt / DAY_MS) * DAY_MS - DAY_MS
    const source = (sourceIp: string, messages: number, passed: number, rejected = 0) => {
      return { sourceIp, messages, passed, rejected, spfAligned: passed, dkimAligned: passed, quarantined: 0 }
    }
    const sources = [
      source('127.0.0.2', 180 + day * 3, 179 + day * 3),
      source('209.85.220.41', 6, 6),
      ...(day % 5 > 0 ? [source('203.0.113.77', day % 5, 0, day % 5)] : []),
    ]
    const about = { organizationId: this.#northwind.organizationId, domainId, receivedAt, beginsAt }
    for (const reporter of ['google.com', 'enterprise.protection.outlook.com'])
      await this.#store.policyReports.add({
        ...{ ...about, endsAt: beginsAt + DAY_MS - 1000, reporter, reportId: String(day) },
        content: { kind: 'dmarc', sources },
      })
  }
}
