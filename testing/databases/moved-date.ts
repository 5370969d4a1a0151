import { raw, type Sql, sql } from '#runtime/db/db'

/**
 * The date of a column moved by an interval, such as `-1 hour`. A distributed server changes rows by expressions alone that do not depend
 * on the zone of the session, as an interval on a date with a zone does.
 */
export const movedDate = (column: string, by: string): Sql =>
  sql`(${raw(column)} at time zone 'UTC' + ${by}::interval) at time zone 'UTC'`
