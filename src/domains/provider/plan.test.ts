import { expect, test } from 'bun:test'
import type { Lookup } from '../../net/dns/resolver.ts'
import { planSteps } from './plan.ts'
import type { Wanted } from './step.ts'

const DOMAIN = 'shop.example.com'

/** The step for an MX record, where DNS has these. */
async function mxStep(wanted: Partial<Wanted>, exchanges: readonly (readonly [number, string])[]) {
  const nothing = async () => ({ kind: 'nxdomain' }) as const
  const records = exchanges.map(([preference, exchange]) => ({ preference, exchange }))
  const mx = async () => ({ kind: 'records' as const, records, ttlSeconds: 60, authentic: false })
  const resolver = { mx, txt: nothing, cname: nothing, a: nothing, aaaa: nothing }
  const plain = { type: 'MX', purpose: 'mx', name: DOMAIN, value: 'mail.example.com', priority: 10, found: [] }
  const [step] = await planSteps([{ ...plain, required: true, status: 'valid', ...wanted }] as Wanted[], [], {
    mx: true,
    resolver,
  })
  return step!
}

/** The step for one TXT record, where DNS has these texts at these names, or does not answer. */
async function stepFor(wanted: Partial<Wanted>, texts: Record<string, string[] | 'temporary'>) {
  const lookup = (found: string[] | 'temporary' | undefined): Lookup<string> => {
    if (found === 'temporary') return { kind: 'temporary', reason: 'SERVFAIL' }
    if (found === undefined) return { kind: 'nxdomain' }
    return { kind: 'records', records: found, ttlSeconds: 60, authentic: false }
  }
  const nothing = async () => lookup(undefined) as never
  const resolver = {
    txt: async (name: string) => lookup(texts[name]),
    ...{ mx: nothing, cname: nothing, a: nothing, aaaa: nothing },
  }
  const plain = { type: 'TXT', priority: null, required: true, found: [], status: 'missing' }
  const [step] = await planSteps([{ ...plain, ...wanted } as Wanted], [], { mx: false, resolver })
  return step!
}

const dmarc: Partial<Wanted> = {
  purpose: 'dmarc',
  name: `_dmarc.${DOMAIN}`,
  value: 'v=DMARC1; p=none; rua=mailto:a@b.c',
}

test('creates no DMARC record while DNS does not show that of the parent domain, whose policy it would replace', async () => {
  expect(await stepFor(dmarc, { '_dmarc.example.com': 'temporary' })).toMatchObject({ action: 'conflict' })
  expect(await stepFor(dmarc, {})).toMatchObject({ action: 'create' })
})

test('keeps one of several SPF records, with the mechanisms of all', async () => {
  const value = 'v=spf1 a:mail.example.com ~all'
  const spf: Partial<Wanted> = { purpose: 'spf', name: `bounces.${DOMAIN}`, value, status: 'mismatch' }
  const present = [value, 'v=spf1 include:x.example -all']
  const merged = 'v=spf1 a:mail.example.com include:x.example ~all'
  expect(await stepFor(spf, { [`bounces.${DOMAIN}`]: present })).toMatchObject({
    ...{ action: 'change', removed: present, record: { value: merged } },
  })
  expect(await stepFor(spf, { [`bounces.${DOMAIN}`]: ['other', merged] })).toMatchObject({ action: 'keep' })
})

test('removes another key beside that of a DKIM selector, and no other text', async () => {
  const [ours, other] = ['v=DKIM1; k=rsa; p=AAAA', 'v=DKIM1; k=rsa; p=BBBB']
  const key: Partial<Wanted> = { purpose: 'dkim', name: `r._domainkey.${DOMAIN}`, value: ours, status: 'mismatch' }
  const step = await stepFor(key, { [`r._domainkey.${DOMAIN}`]: [ours, other, 'note'] })
  expect(step).toMatchObject({ action: 'change', removed: [other], record: { value: ours } })
})

test('names the MX records of others beside ours, to which mail may go', async () => {
  const [ours, other] = [[10, 'mail.example.com'] as const, [20, 'mx.office.example'] as const]
  expect(await mxStep({}, [ours])).toMatchObject({ action: 'keep', note: '' })
  for (const purpose of ['mx', 'return_path'] as const) {
    expect(await mxStep({ purpose }, [other, ours])).toMatchObject({
      ...{ action: 'keep', removed: [], note: 'mail may go elsewhere: remove MX 20 mx.office.example' },
    })
  }
})

test('compares host names without letter case, final dot and the form of their labels', async () => {
  const value = 'mail.xn--bcher-kva.example'
  for (const host of ['MAIL.xn--bcher-kva.example.', 'mail.bücher.example', 'mail.B\u00dcCHER.example.'])
    expect([host, await mxStep({ value, status: 'missing' }, [[10, host]])]).toMatchObject([host, { action: 'keep' }])
})
