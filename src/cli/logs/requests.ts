import { type ParsedArgs, textFlag } from '../command.ts'

export const requestsPath = '/operator/requests'

/** A request as the list of the log has it. */
export type LoggedRow = {
  id: string
  method: string
  path: string
  route: string
  status: number
  code?: number
  durationMs: number
  apiKeyId?: string
  resourceId?: string
  createDate: string
}

/** The filters of the list, by the options that name them. */
const filters: Readonly<Record<string, string>> = {
  method: 'method',
  route: 'route',
  status: 'status',
  key: 'apiKeyId',
  resource: 'resourceId',
  'idempotency-key': 'idempotencyKey',
}

/** The query for a page of requests that the options choose. */
export function queryOf(args: ParsedArgs, pageSize: number, from?: string): URLSearchParams {
  const query = new URLSearchParams({ pageSize: String(pageSize), ...(from !== undefined && { from }) })
  for (const [option, parameter] of Object.entries(filters)) {
    const value = textFlag(args, option)
    if (value !== undefined) query.set(parameter, option === 'method' ? value.toUpperCase() : value)
  }
  return query
}
