import { type Db, sql } from '#runtime/db/db'

export type SigningCertificateRow = {
  id: string
  /** PEM. */
  certificate: string
  sealedPrivateKey: Buffer
  /** The date at which it expires. */
  notAfter: string
}

export const newestSigningCertificate = (db: Db) =>
  db.maybe<SigningCertificateRow>(sql`select id, certificate, sealed_private_key, not_after
    from signing_certificates order by create_date desc, id desc limit 1`)

/** Serialises the making of a certificate between processes; held until the end of the tx. */
export const lockSigningCertificates = (tx: Db) =>
  tx.run(sql`lock table signing_certificates in share row exclusive mode`)

export const insertSigningCertificate = (tx: Db, row: SigningCertificateRow & { createDate: string }) =>
  tx.run(sql`insert into signing_certificates (id, certificate, sealed_private_key, not_after, create_date)
    values (${row.id}, ${row.certificate}, ${row.sealedPrivateKey}, ${row.notAfter}, ${row.createDate})`)

export const findSigningCertificate = (db: Db, id: string) =>
  db.maybe<{ certificate: string }>(sql`select certificate from signing_certificates where id = ${id}`)
