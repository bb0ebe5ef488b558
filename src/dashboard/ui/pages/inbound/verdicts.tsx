import type { Json } from '../../kit/api.ts'

import { Chip, toneOf } from '../../kit/status.tsx'

/** Results of SPF, DKIM and DMARC. */
export function Verdicts({ of: { spf_result, dkim_result, dmarc_result } }: { of: Json }) {
  const all = { SPF: spf_result, DKIM: dkim_result, DMARC: dmarc_result }
  return (
    <span class="row tight">
      {Object.entries(all).map(([name, result]) => (
        <Chip key={name} word={`${name} ${result}`} tone={toneOf(result)} />
      ))}
    </span>
  )
}
