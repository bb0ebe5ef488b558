import { describe, expect, test } from 'bun:test'
import { SmtpReply } from '../smtp-server/reply.ts'
import { requireNoLoop, requireOwnName, requireProof } from './policy.ts'

/** The reply that `check` throws, as text; null for none. */
function refusalOf(check: () => void): string | null {
  try {
    check()
    return null
  } catch (thrown) {
    if (!(thrown instanceof SmtpReply)) throw thrown
    return thrown.message
  }
}

type Result = Parameters<typeof requireProof>[1]
type Verdict = Result['verdicts']['dmarc']
const verdicts = (dmarc: Verdict): Result['verdicts'] => ({ spf: 'none', dkim: 'none', arc: 'none', dmarc })

describe('mail with too many hops', () => {
  test('is refused beyond 50, or with the tag of this server among those of others', () => {
    expect(refusalOf(() => requireNoLoop({ hops: 50, loop: 'other, another' }, 'ours'))).toBeNull()
    expect(refusalOf(() => requireNoLoop({ hops: 51, loop: null }, 'ours'))).toContain('51 hops')
    for (const loop of ['ours', 'other,ours', 'other ours', 'other, ours, another'])
      expect(refusalOf(() => requireNoLoop({ hops: 0, loop }, 'ours'))).toContain('already forwarded')
    expect(refusalOf(() => requireNoLoop({ hops: 0, loop: 'oursandmore' }, 'ours'))).toBeNull()
  })
})

describe('a route that', () => {
  const proof = (authentication: Parameters<typeof requireProof>[0], dmarc: Verdict, policy: Result['dmarcPolicy']) =>
    refusalOf(() =>
      requireProof(authentication, { verdicts: verdicts(dmarc), dmarcPolicy: policy, dmarcReason: null }),
    )?.slice(0, 3) ?? null

  test('requires nothing accepts everything', () => {
    for (const dmarc of ['fail', 'temperror', 'none'] as const) expect(proof('none', dmarc, 'reject')).toBeNull()
  })

  test('requires a pass refuses all else, and asks to come back while DNS does not answer', () => {
    expect(proof('require_pass', 'pass', 'reject')).toBeNull()
    for (const dmarc of ['fail', 'none', 'permerror'] as const) expect(proof('require_pass', dmarc, 'none')).toBe('550')
    expect(proof('require_pass', 'temperror', 'none')).toBe('451')
  })

  test('follows DMARC refuses only what fails a policy of reject', () => {
    expect(proof('dmarc', 'fail', 'reject')).toBe('550')
    expect(proof('dmarc', 'fail', 'quarantine')).toBeNull()
    expect(proof('dmarc', 'none', 'reject')).toBeNull()
    expect(proof('dmarc', 'temperror', 'reject')).toBe('451')
  })

  test('names the reason', () => {
    const result = { verdicts: verdicts('fail'), dmarcPolicy: 'none' as const }
    expect(refusalOf(() => requireProof('require_pass', { ...result, dmarcReason: 'no From' }))).toContain('no From')
    expect(refusalOf(() => requireProof('require_pass', { ...result, dmarcReason: null }))).toContain('is fail')
  })
})

describe('forwarded mail that is not authenticated', () => {
  const forwarded = (fromHeader: string, dmarc: Verdict = 'fail', dmarcPolicy: Result['dmarcPolicy'] = 'reject') =>
    refusalOf(() =>
      requireOwnName('ours.example', {
        verdicts: verdicts(dmarc),
        dmarcPolicy,
        head: { fromHeader } as Parameters<typeof requireOwnName>[1]['head'],
      }),
    )?.slice(0, 3) ?? null

  test('is refused if it names our domain, its parent or a subdomain', () => {
    for (const name of ['ours.example', 'OURS.example.', 'mail.ours.example'])
      expect([name, forwarded(`Ann <ann@${name}>`)]).toEqual([name, '550'])
    for (const name of ['example', 'theirs.example', 'notours.example', 'ours.example.net'])
      expect([name, forwarded(`Ann <ann@${name}>`)]).toEqual([name, null])
    expect(
      refusalOf(() =>
        requireOwnName('a.b.example', {
          verdicts: verdicts('fail'),
          dmarcPolicy: 'reject',
          head: { fromHeader: 'x@b.example' } as Parameters<typeof requireOwnName>[1]['head'],
        }),
      ),
    ).toStartWith('550')
  })

  test('is accepted if it passes or the policy is none, and waits while DNS does not answer', () => {
    expect(forwarded('ann@ours.example', 'pass')).toBeNull()
    expect(forwarded('ann@ours.example', 'fail', 'none')).toBeNull()
    expect(forwarded('ann@ours.example', 'temperror')).toBe('451')
    expect(forwarded('ann@theirs.example', 'temperror')).toBeNull()
  })

  test('is refused if it names more than 1,000 domains, counted once each', () => {
    const names = (count: number) => Array.from({ length: count }, (_, at) => `a@d${at}.example`).join(', ')
    expect(forwarded(names(1_000))).toBeNull()
    expect(forwarded(`${names(1_000)}, b@d7.example`)).toBeNull()
    expect(forwarded(names(1_001))).toBe('550')
  })

  test('is refused if it names more than 20 internationalized domains, or one that has no A-label', () => {
    const names = (count: number) => Array.from({ length: count }, (_, at) => `a@ü${at}.example`).join(', ')
    expect(forwarded(names(20))).toBeNull()
    expect(forwarded(names(21))).toBe('550')
    expect(forwarded('a@\u200d.example')).toBe('550')
  })
})
