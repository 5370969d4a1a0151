/** The paid services that the tool finds: a list of the operator, in the form of the tool. */
import { readFileSync } from 'node:fs'
import { UsageError } from '../command.ts'

export type PaidService = {
  /** The URL that is paid for. */
  resource: string
  method?: string
  description?: string
  /** The name of the seller. */
  provider?: string
  category?: string
}

const texts = ['resource', 'method', 'description', 'provider', 'category'] as const

/** Reads the file of --services: a list of services in JSON. */
export function readServices(path: string | undefined): readonly PaidService[] {
  if (path === undefined) return []
  const refuse = (reason: string) => new UsageError(`--services ${path} ${reason}`)
  let list: unknown
  try {
    list = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw refuse(`cannot be read: ${(error as Error).message}`)
  }
  if (!Array.isArray(list))
    throw refuse('must be a list such as [{"resource": "https://shop.example/forecast"}]')
  return list.map((item: Record<string, unknown>, index) => {
    const isFit = texts.every((name) => item?.[name] === undefined || typeof item[name] === 'string')
    if (!isFit || !URL.canParse(String(item['resource'])))
      throw refuse(
        `has an item ${index} without the URL of a resource, or with a member that is no text: ${texts.join(', ')}`,
      )
    return item as PaidService
  })
}

const limitMax = 100

/** One page of the services that a search finds, as the tool reads it. */
export function findServices(services: readonly PaidService[], query: URLSearchParams) {
  const words = (query.get('query') ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  const category = query.get('category')?.toLowerCase()
  const found = services.filter((service) => {
    const text = Object.values(service).join(' ').toLowerCase()
    return (
      words.every((word) => text.includes(word)) &&
      (category === undefined || service.category?.toLowerCase() === category)
    )
  })
  const [limit, offset] = [countIn(query.get('limit'), 50), countIn(query.get('offset'), 0)]
  const items = found.slice(offset, offset + Math.min(limit, limitMax)).map(shown)
  return { x402Version: 2, items, pagination: { limit, offset, total: found.length } }
}

const countIn = (text: string | null, otherwise: number) =>
  text !== null && /^\d{1,6}$/.test(text) ? Number(text) : otherwise

const shown = ({ resource, method = 'GET', description = '', provider, category }: PaidService) => ({
  resource,
  type: 'http',
  metadata: {
    provider: { name: provider ?? new URL(resource).host, ...(category !== undefined && { category }) },
    path: new URL(resource).pathname,
    method,
    description,
  },
})
