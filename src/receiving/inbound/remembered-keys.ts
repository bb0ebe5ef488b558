import { createPublicKey } from 'node:crypto'
import type { DNSResolver } from 'mailauth'
import { createKeyCache, toALabel } from 'mailauth/lib/tools'
import { setNewest } from '../../os/set-newest.ts'

/** Resolver → public keys of signatures and seals, each DNS record queried once per mail. Parsed keys are cached per
 *  thread while DNS returns the same record, because parsing costs more than verifying a signature. Records without a
 *  valid key are parsed each time. */
export function rememberedKeys(resolver: DNSResolver): KeyCache {
  const asked = new Map<string, Promise<KeyAnswer>>()
  return {
    resolver,
    get: (type, name, minBitLength, options) => {
      const use = `${options.strict} ${minBitLength} ${options.hashAlgo} ${name}`
      const known = asked.get(use)
      if (known !== undefined) return known
      const answer = keyOf(resolver, use, { type, name, minBitLength, options })
      answer.catch(() => {}) // prefetched; the caller that waits handles the error
      asked.set(use, answer)
      return answer
    },
  }
}

interface Question {
  type: string
  name: string
  minBitLength: number | undefined
  options: { strict: boolean; hashAlgo: string }
}

async function keyOf(resolver: DNSResolver, use: string, question: Question): Promise<KeyAnswer> {
  const { type, name, minBitLength, options } = question
  const records = await resolver(toALabel(name), 'TXT')
  const said = `${use} ${JSON.stringify(records[0])}`
  let key = read.get(said)
  if (key === undefined) {
    const answer = await createKeyCache(async () => records).get(type, name, minBitLength, options)
    key = { ...answer, publicKey: createPublicKey(answer.publicKey as string) }
  }
  setNewest(read, said, key, MAX_KEYS)
  return key
}

/** By query and DNS answer, most recently used last. About 3 KB each. */
const read = new Map<string, KeyAnswer>()
const MAX_KEYS = 1_000
