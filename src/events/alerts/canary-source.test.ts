import { expect, test } from 'bun:test'
import type { Alert } from '../../model/alert.ts'
import type { Canary, CanaryResult } from '../../model/canary.ts'
import { canarySource } from './canary-source.ts'

const START = 1_795_262_400_000

/** Results of a mailbox, the last one last, and the kinds of open alerts → the kinds of problems. */
async function problems(results: CanaryResult[], open: string[] = [], mailboxes = ['gmail']) {
  return (await problemsOf(results, open, mailboxes)).map(({ kind }) => kind)
}

async function problemsOf(results: CanaryResult[], open: string[], mailboxes: string[]) {
  const canaries = results.map(
    (result, at): Canary => ({
      id: `cnr_${at}`,
      mailbox: 'gmail',
      dueAt: START + at,
      sentAt: START,
      result,
      arrivedAt: null,
      detail: null,
    }),
  )
  const look = canarySource({
    store: {
      canaries: {
        latestEnded: async () =>
          canaries
            .toReversed()
            .filter(({ result }) => result !== 'pending')
            .slice(0, 2),
      } as never,
    },
    leads: () => true,
    mailboxes,
  })
  const [found] = await look(
    START,
    open.map((kind) => ({ kind, subject: 'gmail' }) as Alert),
  )
  return found!.problems
}

test('an alert begins after two bad messages in a row, with what the last one says', async () => {
  expect(await problems(['missing'])).toEqual([])
  expect(await problems(['inbox', 'missing'])).toEqual([])
  expect(await problems(['missing', 'inbox', 'missing'])).toEqual([])
  expect(await problems(['inbox', 'missing', 'missing'])).toEqual(['canary_missing'])
  expect(await problems(['spam', 'spam', 'pending'])).toEqual(['canary_spam'])
  expect(await problems(['late', 'missing'])).toEqual(['canary_missing'])
})

test('it ends after two messages in a row that do not say so', async () => {
  expect(await problems(['missing', 'inbox'], ['canary_missing'])).toEqual(['canary_missing'])
  expect(await problems(['missing', 'inbox', 'missing'], ['canary_missing'])).toEqual(['canary_missing'])
  expect(await problems(['missing', 'inbox', 'inbox'], ['canary_missing'])).toEqual([])
  expect(await problems(['missing', 'spam', 'spam'], ['canary_missing'])).toEqual(['canary_spam'])
})

test('nothing is left of a mailbox that is no longer in the configuration', async () => {
  expect(await problems(['missing', 'missing'], ['canary_missing'], [])).toEqual([])
})

test('the text says what became of the last message', async () => {
  const [problem] = await problemsOf(['late', 'spam'], [], ['gmail'])
  expect(problem).toMatchObject({ message: 'The last mail to the mailbox gmail is in spam', severity: 'warning' })
})
