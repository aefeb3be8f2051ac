-- The roles of the gateway and of Grafana, and their database. Run as a superuser of PostgreSQL; set passwords with \password.
CREATE ROLE dunnage LOGIN;
CREATE ROLE grafana LOGIN;
CREATE DATABASE telemetry OWNER dunnage;
\connect telemetry
-- What the gateway makes, Grafana may read.
GRANT CREATE ON SCHEMA public TO dunnage;
ALTER DEFAULT PRIVILEGES FOR ROLE dunnage GRANT SELECT ON TABLES TO grafana;
