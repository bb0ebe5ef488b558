import { useRef, useState } from 'preact/hooks'
import { get, type Json } from '../../kit/api.ts'
import { when } from '../../kit/format.ts'
import { usePages } from '../../kit/load.ts'
import { Empty } from '../../kit/pieces.tsx'
import { may } from '../../kit/rights.ts'
import { href } from '../../kit/router.ts'
import { Pager, Table } from '../../kit/table.tsx'
import { attempt, toast } from '../../kit/toast.tsx'
import { CompareVersions } from './compare.tsx'
import type { Draft } from './draft.ts'

/** Earlier contents of a template: load one into the editor, or compare two. `draft` has the unsaved texts; null without
 *  any. */
export function Versions({
  template,
  draft,
  onOldVersion,
}: {
  template: Json
  draft: Draft | null
  onOldVersion: (version: Json) => void
}) {
  const path = `/v1/templates/${template.id}`
  const pages = usePages(`${path}/versions`, {}, { as: 'versions' })
  const [compared, setCompared] = useState<number | null>(null)
  const wanted = useRef<number | null>(null)
  const load = (version: number) => {
    wanted.current = version
    return attempt(async () => {
      const old = await get(path, { version })
      if (wanted.current !== version) return
      onOldVersion(old)
      toast(`Version ${version} loaded. Save to use it.`)
    })
  }
  return (
    <div class="stack tight">
      <Table<Json>
        name="Versions"
        columns={[
          { name: 'Version', width: '72px', phone: 'top-left', show: ({ version }) => version, isNumber: true },
          { name: 'Subject', phone: 'sub', show: ({ subject }) => subject ?? '' },
          { name: 'Saved', width: '150px', phone: 'last', show: ({ created_at }) => when(created_at), isShort: true },
          {
            name: '',
            width: '170px',
            phone: 'end',
            isWhole: true,
            show: ({ version }) => (
              <span class="row tight">
                <button type="button" class="tiny" onClick={() => setCompared(version)}>
                  Compare<span class="hidden"> version {version}</span>
                </button>
                <button type="button" class="tiny" onClick={() => load(version)}>
                  Load<span class="hidden"> version {version}</span>
                </button>
              </span>
            ),
          },
        ]}
        loaded={pages}
        keyOf={({ version }) => String(version)}
        whenEmpty={<Empty name="No versions" />}
      />
      <Pager pages={pages} />
      {may('audit_log_list') && (
        <p>
          <a href={href('/settings', { tab: 'audit-log', resource: template.id })}>See who changed it</a>
        </p>
      )}
      {compared !== null && (
        <CompareVersions
          template={template}
          draft={draft}
          versions={(pages.data ?? []).map(({ version }) => version)}
          version={compared}
          onClose={() => setCompared(null)}
        />
      )}
    </div>
  )
}
