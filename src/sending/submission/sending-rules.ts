import { type Domain, isOwned, isReadyToSend } from '../../model/domain.ts'
import { monthOf } from '../../model/limits.ts'
import type { Mode } from '../../model/message.ts'
import { type Plan, planFor, UNLIMITED } from '../../model/organization.ts'
import type { QualityAlert } from '../../model/quality.ts'
import { Refusal } from '../../model/refusal.ts'
import type { Store } from '../../storage/store.ts'
import { quotaExceeded } from './volume.ts'

export interface SendingRuleSettings {
  /** Live mail requires a verified domain (`sending.require_verified_domain`). */
  requireVerifiedDomain: boolean
  /** Quality alerts stop live mail (`quality.stop_sending`). */
  stopSending: boolean
  /** The plan of a name; the smallest one for an unknown name. */
  plans: (name: string) => Plan
}

/** Which domains and organizations may send, whatever the content of the mail: the rules of the configuration, applied
 *  to the records of the store. Rejects only with a Refusal or the error of the store. */
export class SendingRules {
  readonly #store: Pick<Store, 'organizations' | 'snapshot' | 'domains' | 'messages'>
  readonly #settings: SendingRuleSettings

  constructor(
    store: Pick<Store, 'organizations' | 'snapshot' | 'domains' | 'messages'>,
    settings: SendingRuleSettings,
  ) {
    this.#store = store
    this.#settings = settings
  }

  /** The plan whose limits apply to the organization's mail. */
  async planOf(organizationId: string): Promise<Plan> {
    const organization = await this.#store.organizations.get(organizationId)
    return planFor(organizationId, organization, this.#settings.plans)
  }

  /** The quality alert that stops the domain's live mail; null if none does. */
  stoppedBy(domainId: string): QualityAlert | null {
    return this.#settings.stopSending ? (this.#store.snapshot.firingAlerts(domainId)[0] ?? null) : null
  }

  /** Throws for live mail of a domain that is not verified (`domain_not_verified`) or that an alert stops
   *  (`invalid_state`). Test mail is always allowed. */
  requireMaySend(mode: Mode, domain: Domain): void {
    if (mode === 'test') return
    if (!isReadyToSend(domain) && this.#settings.requireVerifiedDomain) throw notVerified(domain)
    const alert = this.stoppedBy(domain.id)
    if (alert !== null) throw stopped(domain, alert)
  }

  /** Whether mail to the domain reaches its organization. */
  mayReceive(domain: Domain): boolean {
    return isOwned(domain, this.#settings.requireVerifiedDomain)
  }

  /** The refusal that any live mail of the domain would get at the time `now`: as requireMaySend throws it, or
   *  `quota_exceeded` for a used-up month. Null if mail would be accepted, and for a domain that no longer exists. */
  async refusalOf(
    { organizationId, domainId }: { organizationId: string; domainId: string },
    now: number,
  ): Promise<Refusal | null> {
    const domain = await this.#store.domains.get(domainId)
    if (domain === null) return null
    try {
      this.requireMaySend('live', domain)
    } catch (refusal) {
      if (refusal instanceof Refusal) return refusal
      throw refusal
    }
    const plan = await this.planOf(organizationId)
    if (plan.messagesPerMonth === UNLIMITED) return null
    const used = await this.#store.messages.volume(organizationId, monthOf(now))
    return used < plan.messagesPerMonth ? null : quotaExceeded(plan, used, now)
  }
}

function notVerified({ id, name, status }: Domain): Refusal {
  const records =
    status === 'verified'
      ? 'cannot send yet. Publish its DKIM records and verify the domain.'
      : 'is not verified yet. Publish its DNS records and verify the domain.'
  return new Refusal('domain_not_verified', `${name} ${records}`, {
    field: 'from',
    details: { domain_id: id, domain: name, status },
  })
}

function stopped({ id, name }: Domain, alert: QualityAlert): Refusal {
  const what = alert.metric === 'bounce_rate' ? 'hard bounces' : 'complaints'
  return new Refusal(
    'invalid_state',
    `Sending from ${name} is paused: too many ${what}. Remove bad addresses from your lists.`,
    {
      field: 'from',
      details: {
        reason: 'quality_alert',
        domain_id: id,
        domain: name,
        alert_id: alert.id,
        metric: alert.metric,
        value: alert.value,
        threshold: alert.threshold,
      },
    },
  )
}
