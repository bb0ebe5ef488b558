/** The list of inputs of a build → bytes of text in its output, by package and by folder of src, the largest first. */
export function textByPart(metafile: Bun.BuildMetafile | undefined): Record<string, number> {
  const bytes = new Map<string, number>()
  for (const { inputs } of Object.values(metafile?.outputs ?? {}))
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const part = partOf(path)
      bytes.set(part, (bytes.get(part) ?? 0) + bytesInOutput)
    }
  return Object.fromEntries([...bytes].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)))
}

/** `node_modules/@scope/name/…` → `@scope/name`; `src/storage/sqlite/…` → `src/storage/sqlite`. */
function partOf(path: string): string {
  const inPackage = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)
  return inPackage?.[1] ?? path.split('/').slice(0, 3).join('/')
}
