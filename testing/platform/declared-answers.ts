import { readFileSync } from 'node:fs'
import { pathsOf } from '#runtime/http/schemas'
import type { Metrics } from '#runtime/telemetry/metrics'

type Document = { paths: Record<string, Record<string, { responses: Record<string, unknown> }>> }

/** The statuses that openapi.json declares, by method and by route in the form of the metrics. */
function readDeclared(): Map<string, Set<string>> {
  const file = new URL('../../openapi.json', import.meta.url)
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as Document
  return new Map(
    Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, { responses }]) =>
        pathsOf(path).map(
          (route) => [`${method.toUpperCase()} ${route}`, new Set(Object.keys(responses))] as const,
        ),
      ),
    ),
  )
}

let declared: ReturnType<typeof readDeclared> | undefined

/** Throws when an operation answered a request, of any client, with a status that openapi.json does not declare for it. */
export async function requireDeclaredAnswers({ requests }: Metrics): Promise<void> {
  declared ??= readDeclared()
  const { values } = await requests.get()
  const undeclared = new Set<string>()
  for (const { labels } of values) {
    const operation = `${labels.method} ${labels.route}`
    const statuses = declared.get(operation)
    if (statuses && !statuses.has(String(labels.status)))
      undeclared.add(`${operation} answered ${labels.status}`)
  }
  if (undeclared.size > 0)
    throw new Error(`openapi.json does not declare: ${[...undeclared].join(', ')}. Declare it in routes.ts`)
}
