import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Store, StoreUnavailable } from '../../src/storage/store.ts'
import { expectNothingLost, openStage, PUBLISHED, type Stage } from './journey.ts'

/** The n-th call of the store fails, n = 1, 2, 3 … until a round passes without a failure. */

let stage: Stage
let trap: Trap
beforeAll(async () => {
  stage = await openStage()
  trap = layTrap(stage.server.store())
})
afterAll(() => stage.close())

const FAULTS = {
  'cannot write': () => new StoreUnavailable('the disk is full'),
  'has a bug': () => new Error('a bug of the store'),
}

for (const [what, fault] of Object.entries(FAULTS)) {
  test(`whichever store call ${what}, no mail is lost or sent twice and no event is invented`, async () => {
    trap.set('nothing', 0, fault)
    await round('nothing', 0)
    const methods = trap.called()
    expect(methods).toEqual(expect.arrayContaining(ON_THE_WAY))
    for (const method of methods) {
      for (let n = 1; n <= MOST_CALLS; n++) {
        trap.set(method, n, fault)
        await round(method, n)
        if (!trap.hasSprung()) break
      }
    }
  })

  const round = async (method: string, n: number) => {
    const played = await stage.play()
    try {
      expectNothingLost(played)
      expect(played.published).toEqual(PUBLISHED)
      expect([played.copies.ann.length, played.copies.busy.length]).toEqual([1, 1])
      expect(played.attempts).toHaveLength(4)
      // An outcome whose record met a bug is posted once more, with the same id.
      const isRepeated = method === 'webhookDeliveries.record' && what === 'has a bug'
      const extra = played.posts.reduce((sum, posts) => sum + posts - 1, 0)
      expect(extra).toBe(isRepeated && trap.hasSprung() ? 1 : 0)
    } catch (error) {
      throw new Error(`call ${n} of ${method}: ${(error as Error).message}`, { cause: error })
    }
  }
}

/** Calls that a mail requires. */
const ON_THE_WAY = [
  'snapshot.apiKeyBySecret',
  'messages.accept',
  'deliveries.claimDue',
  'deliveries.record',
  'webhookDeliveries.claimDue',
  'webhookDeliveries.record',
]
/** Methods that loops call all the time. */
const MOST_CALLS = 5

interface Trap {
  /** From now on the `n`-th call of the method fails with the result of `fault`; 1 = the next. Resets the recorded
   *  calls. */
  set(method: string, n: number, fault: () => Error): void
  hasSprung(): boolean
  /** Methods called since then, sorted. */
  called(): string[]
}

const SYNCHRONOUS = /^snapshot\./
/** Answers from memory, which cannot fail. */
const IN_MEMORY = /^(nodes\.(share|elsewhere)|snapshot\.ownerOf(Webhook|Route))$/

/** Wraps every method of the store. */
function layTrap(store: Store): Trap {
  let victim = ''
  let left = 0
  let fault: () => Error = () => new Error('not set')
  const called = new Set<string>()
  const guard = (owner: Record<string, unknown>, name: string, path: string) => {
    const real = owner[name] as (...given: unknown[]) => unknown
    if (IN_MEMORY.test(path)) return
    owner[name] = (...given: unknown[]) => {
      called.add(path)
      if (path !== victim || --left !== 0) return real(...given)
      if (SYNCHRONOUS.test(path)) throw fault()
      return Promise.reject(fault())
    }
  }
  for (const [role, methods] of Object.entries(store)) {
    if (typeof methods === 'object' && methods !== null) {
      for (const name of Object.keys(methods)) guard(methods as never, name, `${role}.${name}`)
    } else if (role !== 'close') guard(store as never, role, role)
  }
  return {
    set: (method, n, make) => {
      victim = method
      left = n
      fault = make
      called.clear()
    },
    hasSprung: () => left <= 0 && victim !== 'nothing',
    called: () => [...called].sort(),
  }
}
