/** What a run of `bun test` left behind → how many tests passed and failed. */
export interface Count {
  passed: number
  failed: number
}

/** The exit code alone is not believed: a test file that ends the process while it is loaded, with code 0, makes a run
 *  without a report. `error` is standard error with the closing line, `junit` the report or ''. Each doubt is one more
 *  failure, unless failures tell it already. Skipped tests are neither passed nor failed. */
export function countTests(run: { code: number; error: string; junit: string }): { count: Count; doubts: string[] } {
  const root = /<testsuites\b[^>]*>/.exec(run.junit)?.[0]
  const closing = /^Ran (\d+) tests? across \d+ files?\./m.exec(run.error)
  if (!root || !closing) return { count: { passed: 0, failed: 1 }, doubts: ['the run did not come to its end'] }

  const number = (name: string) => Number(new RegExp(`\\s${name}="(\\d+)"`).exec(root)?.[1] ?? 0)
  const failed = number('failures') + number('errors')
  const passed = number('tests') - failed - number('skipped')
  const doubts: string[] = []
  if (Number(closing[1]) !== number('tests'))
    doubts.push(`${closing[1]} tests ran, ${number('tests')} are in the report`)
  if (number('tests') === 0) doubts.push('no test ran')
  if (failed === 0 && run.code !== 0) doubts.push(`no test failed, but the exit code is ${run.code}`)
  return { count: { passed, failed: failed + doubts.length }, doubts }
}
