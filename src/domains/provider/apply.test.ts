import { expect, test } from 'bun:test'
import { applySteps } from './apply.ts'
import { LexiconFault, type ProviderRecord, type ProviderZone } from './lexicon.ts'
import type { Step } from './step.ts'

const NAME = '_dmarc.example.com'
const [OLD, NEW] = ['v=DMARC1; p=reject', 'v=DMARC1; p=reject; rua=mailto:a@example.com']
const record: ProviderRecord = { type: 'TXT', name: NAME, value: NEW, priority: null }
const step: Step = { record, purpose: 'dmarc', action: 'change', removed: [OLD], note: '' }

/** A provider with these values, which creates no records if it `refuses`. */
function zoneOf(values: string[], refuses = false): ProviderZone {
  return {
    list: async () => [...values],
    create: async ({ value }) => {
      if (refuses) throw new LexiconFault('lexicon: 403')
      values.push(value)
    },
    remove: async ({ value }) => {
      values.splice(values.indexOf(value), 1)
    },
    close: () => {},
  }
}

test('replaces the old value, and leaves others of the name', async () => {
  const values = ['another purpose', OLD]
  expect(await applySteps([step], zoneOf(values))).toEqual([{ step, fault: null }])
  expect(values).toEqual(['another purpose', NEW])
})

test('keeps the old value if the provider does not create the new one', async () => {
  const values = [OLD]
  expect(await applySteps([step], zoneOf(values, true))).toEqual([{ step, fault: 'lexicon: 403' }])
  expect(values).toEqual([OLD])
})

test('leaves a value that somebody has put there since', async () => {
  const values = ['v=DMARC1; p=quarantine']
  await applySteps([step], zoneOf(values))
  expect(values).toEqual(['v=DMARC1; p=quarantine', NEW])
})
