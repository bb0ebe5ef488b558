import type { Json } from '../../kit/api.ts'
import { Chip, toneOf } from '../../kit/status.tsx'

/** Results of SPF, DKIM and DMARC in one chip: all if they passed, otherwise the others. */
export function VerdictsInShort({ of }: { of: Json }) {
  const others = Object.entries(resultsOf(of)).filter(([, result]) => result !== 'pass')
  if (others.length === 0) return <Chip word="SPF, DKIM, DMARC pass" tone="good" />
  const tone = others.map(([, result]) => toneOf(result)).find((each) => each === 'bad') ?? 'warn'
  return <Chip word={others.map(([name, result]) => `${name} ${result}`).join(', ')} tone={tone} />
}

const resultsOf = ({ spf_result, dkim_result, dmarc_result }: Json): Record<string, string> => {
  return { SPF: spf_result, DKIM: dkim_result, DMARC: dmarc_result }
}

/** Results of SPF, DKIM and DMARC. */
export function Verdicts({ of }: { of: Json }) {
  return (
    <span class="row tight">
      {Object.entries(resultsOf(of)).map(([name, result]) => (
        <Chip key={name} word={`${name} ${result}`} tone={toneOf(result)} />
      ))}
    </span>
  )
}
