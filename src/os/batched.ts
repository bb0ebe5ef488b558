/** Answers calls together: those of one turn of the event loop, and those that come while the calls before them are being
 *  answered. `answer` gets at most `most` of them and returns as many answers, in their order; if it throws, each of its
 *  calls rejects with the error. */
export function batched<Question, Answer>(
  answer: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  most: number,
): (question: Question) => Promise<Answer> {
  interface Call {
    question: Question
    resolve: (answer: Answer) => void
    reject: (error: unknown) => void
  }
  const waiting: Call[] = []
  let isRunning = false
  const run = async () => {
    while (waiting.length > 0) {
      const calls = waiting.splice(0, most)
      try {
        const answers = await answer(calls.map(({ question }) => question))
        for (const [at, { resolve }] of calls.entries()) resolve(answers[at] as Answer)
      } catch (error) {
        for (const { reject } of calls) reject(error)
      }
    }
    isRunning = false
  }
  return (question) => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    waiting.push({ question, resolve, reject })
    if (!isRunning) {
      isRunning = true
      setImmediate(run)
    }
    return promise
  }
}
